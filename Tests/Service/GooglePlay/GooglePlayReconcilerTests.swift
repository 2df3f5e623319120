import Entitlements
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// What the service asks a local Google Play for, without its notifications.
@Suite struct GooglePlayReconcilerTests {
    private let issuer: TestPushIssuer

    init() throws {
        issuer = try TestPushIssuer.shared.get()
    }

    /// A service to which nobody pushes.
    private func run(
        isReachable: Bool = true, _ body: @Sendable @escaping (PlayService) async throws -> Void
    ) async throws {
        try await PlayService.run(.issuer(issuer), isReachable: isReachable, body)
    }

    @Test func `a refund that no notification has told of is found in the list`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.gate")
            let bought = try played.play.perform { try $0.buy(order) }
            #expect(try await played.app.refresh(bought.token) == [.granted])
            try await played.acknowledge()
            #expect(try await played.app.reconciler.recordVoidedPurchases().outcomes == [:])
            _ = try played.play.perform { try $0.refund(bought.number) }
            try played.advance(days: 0, seconds: 1)
            #expect(try await played.app.reconciler.recordVoidedPurchases().outcomes == ["revoked": 1])
            #expect(try await played.items() == [])
            // The next run has an overlap, and changes nothing twice.
            #expect(try await played.app.reconciler.recordVoidedPurchases().outcomes == ["recorded": 1])
            try played.advance(days: 1)
            _ = try await played.app.reconciler.recordVoidedPurchases()
            #expect(try await played.app.reconciler.recordVoidedPurchases().outcomes == [:])
        }
    }

    @Test func `refunded units are found in the list, and lower the balance`() async throws {
        try await run { played async throws in
            var order = try await played.order("garden.seeds")
            order.quantity = 3
            let bought = try played.play.perform { [order] in try $0.buy(order) }
            #expect(try await played.app.refresh(bought.token) == [.granted])
            try await played.acknowledge()
            #expect(try await played.seeds() == 30)
            try played.advance(days: 0, seconds: 60)
            _ = try played.play.perform { try $0.refund(bought.number, quantity: 1) }
            try played.advance(days: 0, seconds: 1)
            #expect(try await played.app.reconciler.recordVoidedPurchases().outcomes == ["revoked": 1])
            #expect(try await played.seeds() == 20)
            // The next run has an overlap, and changes nothing twice.
            #expect(try await played.app.reconciler.recordVoidedPurchases().outcomes == ["recorded": 1])
            #expect(try await played.seeds() == 20)
        }
    }

    @Test func `the list is read from the last run on, at most for 30 days`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.gate")
            let bought = try played.play.perform { try $0.buy(order) }
            #expect(try await played.app.refresh(bought.token) == [.granted])
            try await played.acknowledge()
            _ = try await played.app.reconciler.recordVoidedPurchases()
            try played.advance(days: 40)
            _ = try played.play.perform { try $0.refund(bought.number) }
            try played.advance(days: 1)
            #expect(try await played.app.reconciler.recordVoidedPurchases().outcomes == ["revoked": 1])
        }
    }

    @Test func `what was voided of nobody is counted, and changes nothing`() async throws {
        try await run { played async throws in
            let order = PlayPurchaseOrder(
                packageName: TestGarden.bundleIdentifier, productId: "garden.gate", account: "somebody")
            _ = try played.play.perform { try $0.buy(order) }
            // Google refunds what nobody acknowledges.
            try played.advance(days: 4)
            #expect(try await played.app.reconciler.recordVoidedPurchases().outcomes == ["recorded": 1])
        }
    }

    @Test func `a renewal and an end that no notification has told of are found`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.premium.monthly")
            let subscription = try played.play.perform { try $0.subscribe(order) }
            #expect(try await played.app.refresh(subscription.token) == [.granted])
            try await played.acknowledge()
            #expect(try await played.app.reconciler.recordSilentPurchases().outcomes == [:])
            try played.advance(days: 32)
            #expect(try await played.app.reconciler.recordSilentPurchases().outcomes == ["granted": 1])
            #expect(try await played.items() == ["plus 2"])
            _ = try played.play.perform { try $0.perform(.cancel, on: subscription.number) }
            try played.advance(days: 31)
            let report = try await played.app.reconciler.recordSilentPurchases()
            #expect(report.outcomes.values.reduce(0, +) == 1)
            #expect(try await played.items() == [])
        }
    }

    @Test func `a renewal and an end by a customer's own clock are found, too`() async throws {
        try await PlayService.run(.issuer(issuer), followsCustomers: true) { played async throws in
            func advance(_ step: String) throws {
                let step = try #require(TimeStep(step))
                try played.play.perform { _ = try $0.advance(step, of: "alice") }
            }
            let order = try await played.order("garden.premium.monthly")
            let subscription = try played.play.perform { try $0.subscribe(order) }
            #expect(try await played.app.refresh(subscription.token) == [.granted])
            try await played.acknowledge()
            try advance("32d")
            #expect(try await played.app.reconciler.recordSilentPurchases().outcomes == ["granted": 1])
            #expect(try await played.app.reconciler.recordSilentPurchases().outcomes == [:])
            #expect(try await played.items() == ["plus 2"])
            _ = try played.play.perform { try $0.perform(.cancel, on: subscription.number) }
            try advance("31d")
            let report = try await played.app.reconciler.recordSilentPurchases()
            #expect(report.outcomes.values.reduce(0, +) == 1)
            #expect(try await played.items() == [])
            #expect(try await played.app.reconciler.recordSilentPurchases().outcomes == [:])
        }
    }

    @Test func `no end is reported before Google Play has stated it`() async throws {
        try await run { played async throws in
            func events() async throws -> [String] {
                try await played.entitlements.ledger.read { try $0.audit(of: played.alice, after: 0, limit: 100) }
                    .map(\.entry.event.rawValue)
            }
            let order = try await played.order("garden.premium.monthly")
            let subscription = try played.play.perform { try $0.subscribe(order) }
            #expect(try await played.app.refresh(subscription.token) == [.granted])
            try await played.acknowledge()
            try played.advance(days: 32)
            // Nobody has asked since the renewal, as after a start or while Google Play does not answer.
            var sweep = HistorySweep()
            for _ in 0..<2 {
                try await sweep.run(played.entitlements, [])
                try played.advance(days: 0, seconds: 61)
            }
            #expect(try await events() == ["granted"])
            #expect(try await played.app.reconciler.recordSilentPurchases().outcomes == ["granted": 1])
            try await sweep.run(played.entitlements, [])
            #expect(try await events() == ["granted", "granted"])
            _ = try played.play.perform { try $0.perform(.cancel, on: subscription.number) }
            try played.advance(days: 31)
            _ = try await played.app.reconciler.recordSilentPurchases()
            try await sweep.run(played.entitlements, [])
            #expect(try await events().last == "expired")
        }
    }

    @Test func `purchases about which Google Play answers with errors do not keep the others waiting`() async throws {
        try await run { played in
            for number in 0..<11 {
                var order = PlayPurchaseOrder(
                    packageName: TestGarden.bundleIdentifier, productId: "garden.seeds", account: "customer\(number)")
                order.isPending = true
                let pending = try played.play.perform { [order] in try $0.buy(order) }
                #expect(try await played.app.refresh(pending.token) == [])
            }
            try played.advance(days: 1)
            var fault = CallFault(reason: "invalidPurchaseState")
            fault.calls = 10
            try played.play.perform { [fault] in try $0.add(fault) }
            await #expect(throws: PlayDeveloperError.self) { try await played.app.reconciler.recordSilentPurchases() }
            #expect(try await played.app.purchases.purchasesToAsk(limit: 99).count == 1)
            #expect(try await played.app.reconciler.recordSilentPurchases().outcomes == ["recorded": 1])
            try played.advance(days: 0, seconds: 600)
            #expect(try await played.app.reconciler.recordSilentPurchases().outcomes == ["recorded": 10])
        }
    }

    @Test func `a run that Google Play does not answer fails, and the next one has it`() async throws {
        try await run(isReachable: false) { played async throws in
            await #expect(throws: PlayDeveloperError.self) {
                try await played.app.reconciler.recordVoidedPurchases()
            }
            // Without a purchase that has fallen silent, nobody is asked.
            let report = try await played.app.reconciler.recordSilentPurchases()
            #expect(report.outcomes == [:])
        }
    }

    private static func schedule(_ played: PlayService) -> Task<Void, any Error> {
        let schedule = played.app.reconciler.schedule(
            played.voidedRequests, metrics: played.metrics, logger: ServiceFixture.logger)
        return Task { try await schedule.run() }
    }

    /// The number of runs. The first one, about silent purchases, is among them.
    private static func runs(of played: PlayService) -> Int {
        played.metrics.text(queueDepth: 0).split(separator: "\n")
            .filter { $0.hasPrefix("till_reconciliations_total") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    @Test func `a voided purchase is taken back by the schedule as soon as a notification tells of it`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.gate")
            let bought = try played.play.perform { try $0.buy(order) }
            #expect(try await played.app.refresh(bought.token) == [.granted])
            let running = Self.schedule(played)
            defer { running.cancel() }
            await expectEventually { Self.runs(of: played) > 0 }
            _ = try played.play.perform { try $0.refund(bought.number) }
            played.voidedRequests.request()
            try await expectEventually { try await played.items().isEmpty }
        }
    }

    @Test func `a storm of refunds is listed four times a minute, and none is lost`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.gate")
            let bought = try played.play.perform { try $0.buy(order) }
            #expect(try await played.app.refresh(bought.token) == [.granted])
            let running = Self.schedule(played)
            defer { running.cancel() }
            for _ in 0..<100 {
                played.voidedRequests.request()
                try await Task.sleep(for: .milliseconds(20))
            }
            await expectEventually { Self.runs(of: played) >= 5 }
            #expect(Self.runs(of: played) == 5)
            _ = try played.play.perform { try $0.refund(bought.number) }
            played.voidedRequests.request()
            #expect(try await played.items() == ["gate 1"])
            try played.advance(days: 0, seconds: 60)
            try await expectEventually { try await played.items().isEmpty }
        }
    }
}
