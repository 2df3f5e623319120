import Catalog
import Entitlements
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The deadlines of a local Google Play, and outages before them.
@Suite struct StoreDutyTests {
    /// Runs something beside a service to which the test pushes.
    private func run(_ body: @Sendable @escaping (PlayService) async throws -> Void) async throws {
        try await PlayService.run(.issuer(try TestPushIssuer.shared.get()), body)
    }

    @Test func `a redeemed purchase is due until it is acknowledged, and missed for days if it is not`() async throws {
        try await run { played async throws in
            let (kept, lost, presented) = (
                try played.fixture.buy("garden.gate"), try played.fixture.buy("garden.gate") { $0.account = "bob" },
                try played.fixture.buy("garden.gate") { $0.account = "carol" }
            )
            for (user, bought) in [("alice", kept), ("bob", lost)] {
                #expect(try await played.redeem(bought.token, for: user).status == 200)
            }
            // Nobody has redeemed it, so it is no duty.
            _ = try await played.app.ask(about: presented.token)
            #expect(try await played.duties().due.count == 2)
            #expect(try await played.metric("open", of: "acknowledgement") == "2")
            #expect(try await played.secondsLeft(of: "acknowledgement") == 3 * 86_400)

            try await played.acknowledge()
            #expect(try await played.metric("open", of: "acknowledgement") == "0")
            #expect(try await played.secondsLeft(of: "acknowledgement") == nil)

            let late = try played.fixture.buy("garden.gate") { $0.account = "dora" }
            #expect(try await played.redeem(late.token, for: "dora").status == 200)
            played.fixture.advance(days: 2)
            #expect(try await played.duties().isUrgent == false)
            played.fixture.advance(seconds: 20 * 3600)
            #expect(try await played.duties().isUrgent)
            try played.advance(days: 1)
            // It is overdue, until Google Play says that it was taken back.
            #expect(try await played.duties().missed.map(\.kind) == [.acknowledgement])
            _ = try await played.app.refresh(late.token)
            #expect(try await played.duties().missed.map(\.kind) == [.acknowledgement])
            #expect(try await played.metric("missed", of: "acknowledgement") == "1")
            played.fixture.advance(days: 1)
            #expect(try await played.metric("missed", of: "acknowledgement") == "0")
            #expect(try await played.duties().missed.count == 1)
            played.fixture.advance(days: 7)
            #expect(try await played.duties().isEmpty)
        }
    }

    /// Reports a sale as a back end does.
    private static func report(_ identifier: String, at time: Timestamp, to played: PlayService) async throws {
        let amount: JSONValue = .object(["currency": "USD", "priceMicros": "9990000"])
        let sale: JSONValue = .object([
            "externalTransactionId": .string(identifier), "transactionTime": .string(time.rfc3339),
            "originalPreTaxAmount": amount, "originalTaxAmount": amount,
            "userTaxAddress": .object(["regionCode": "US"]),
            "oneTimeTransaction": .object([
                "externalTransactionToken": .string(try played.fixture.externalToken(in: .alternativeBillingOnly))
            ]),
        ])
        #expect(try await played.send(.post, "/v1/google/external-transactions", sale).status == 201)
    }

    private static func passOn(_ played: PlayService) async throws {
        try await played.app.externalTransactionReporter(metrics: played.metrics, logger: ServiceFixture.logger)
            .perform()
    }

    @Test func `the report of an external transaction is due for a day`() async throws {
        try await run { played async throws in
            let clock = played.fixture.garden.clock
            try await Self.report("sale-1", at: clock.now(), to: played)
            #expect(try await played.duties().due.map(\.subject) == ["sale-1"])
            #expect(try await played.secondsLeft(of: "externalTransaction") == 86_400)
            try await Self.passOn(played)
            #expect(try await played.duties().isEmpty)
            try await Self.report("sale-2", at: clock.now(), to: played)
            played.fixture.advance(seconds: 86_401)
            #expect(try await played.duties().missed.map(\.subject) == ["sale-2"])
            // It stays late.
            try await Self.passOn(played)
            #expect(try await played.duties().missed.map(\.subject) == ["sale-2"])
            // The day is that of the sale, and not that of the back end's report.
            try await Self.report("sale-3", at: clock.now().adding(seconds: -80_000), to: played)
            #expect(try await played.secondsLeft(of: "externalTransaction") == 6400)
            try await Self.passOn(played)
            #expect(try await played.duties().due.isEmpty)
        }
    }

    @Test(arguments: [86_400, 30 * 86_400] as [Int64])
    func `an external transaction that is told after its deadline is passed on, and missed from then on`(
        secondsAgo: Int64
    ) async throws {
        try await run { played async throws in
            let told = played.fixture.garden.clock.now()
            try await Self.report("late", at: told.adding(seconds: -secondsAgo), to: played)
            #expect(try await played.duties().missed.map(\.deadline) == [told])
            #expect(try await played.metric("missed", of: "externalTransaction") == "1")
            try await Self.passOn(played)
            #expect(try await played.app.client.externalTransaction("late").preTaxMicros == 9_990_000)
            #expect(try await played.duties().missed.map(\.subject) == ["late"])
            #expect(try await played.metric("missed", of: "externalTransaction") == "1")
            played.fixture.advance(days: 8)
            #expect(try await played.duties().isEmpty)
        }
    }

    @Test func `every missed duty is counted, and none of them hides one that is due`() async throws {
        try await run { played async throws in
            let now = played.fixture.garden.clock.now()
            try await played.entitlements.registerApps()
            try await played.entitlements.ledger.write { transaction in
                for number in 0..<250 as Range<Int64> {
                    let isMissed = number < 130
                    let dueAt = now.adding(seconds: isMissed ? -86_400 - number : 86_400 - number)
                    try transaction.database.insert(
                        into: "external_transaction",
                        [
                            "transaction_id", "refund_id", "package", "realm", "app", "content", "reported_at",
                            "due_at",
                            "reported_by", "attempts", "next_attempt_at",
                        ],
                        [
                            [
                                "sale-\(number)", "", TestGarden.bundleIdentifier, "localPlay", 1 as Int64, "{}",
                                now, dueAt, "K", 0 as Int64, now,
                            ]
                        ])
                }
            }
            let open = try await played.duties()
            #expect((open.missedCount, open.dueCount) == (130, 120))
            #expect(open.missed.first?.subject == "sale-0" && open.due.first?.subject == "sale-249")
            // They wait, so they stay missed until they are done.
            #expect(try await played.metric("missed", of: "externalTransaction") == "130")
            #expect(try await played.metric("open", of: "externalTransaction") == "120")
        }
    }

    @Test func `purchases that nobody has redeemed hide none that is to be acknowledged`() async throws {
        try await run { played async throws in
            let presented = try played.fixture.buy("garden.gate") { $0.account = "carol" }
            _ = try await played.app.ask(about: presented.token)
            let columns = """
                origin, app, original_token, is_subscription, state, product_id, transaction_id, asked_at, attempts, \
                next_attempt_at, package, is_consumable, statement_number, refusals
                """
            // More than are compared at once.
            try await played.entitlements.ledger.write { transaction in
                for number in 0..<1100 as Range<Int64> {
                    _ = try transaction.database.execute(
                        """
                        INSERT INTO google_purchase (purchase_token, acknowledge_by, \(columns))
                        SELECT $1, acknowledge_by - $2, \(columns) FROM google_purchase WHERE purchase_token = $3
                        """, ["copy-\(number)", 1 + number, presented.token])
                }
            }
            let bought = try played.fixture.buy("garden.gate")
            #expect(try await played.redeem(bought.token, for: "alice").status == 200)
            let open = try await played.duties()
            #expect(open.due.map(\.kind) == [.acknowledgement] && open.dueCount == 1 && open.missedCount == 0)
        }
    }

    /// The days of outages: a service that is down at night, and a store that does not answer for hours.
    @Test func `outages of hours miss no deadline, and one of days misses those within it`() async throws {
        try await run { played async throws in
            let offline = try await played.fixture.service(isReachable: false)
            var outages = Outages(played, offline)
            for hour in 0..<(10 * 24) {
                try await outages.pass(
                    hour, isServiceUp: (8..<20).contains(hour % 24),
                    isStoreUp: hour / 24 % 3 != 0 || !(9..<15).contains(hour % 24))
            }
            #expect(outages.purchases.count > 20)
            #expect(try await played.duties().missed.isEmpty)
            #expect(try played.states(of: outages.orders).allSatisfy { $0 != .refunded })
            for number in outages.purchases {
                #expect(try played.fixture.purchase(number).refunds.allSatisfy { $0.reason != .unacknowledgedPurchase })
            }

            // What is known at the beginning of an outage of five days is missed.
            let end = 10 * 24 + 10
            try await outages.pass(end - 1, isServiceUp: true, isStoreUp: true, buys: true)
            let due = try await played.duties().due
            #expect(Set(due.map(\.kind)) == [])
            try await outages.pass(end, isServiceUp: true, isStoreUp: true, buys: true, works: false)
            let open = try await played.duties().due
            #expect(Set(open.map(\.kind)) == [.acknowledgement, .refundReview])
            for hour in 1...(5 * 24) {
                try await outages.pass(end + hour, isServiceUp: true, isStoreUp: false, buys: false)
            }
            #expect(try await Set(played.duties().missed) == Set(open))
        }
    }
}

/// Hours with purchases and disputes, in which the service and the store are not always up.
private struct Outages {
    let played: PlayService
    /// The same service while the store does not answer.
    let offline: PlayService
    private(set) var purchases: [Int64] = []
    private(set) var orders: [String] = []
    /// The notifications that Pub/Sub pushes until the service takes them.
    private var waiting: [String] = []
    private var pushed = 0

    init(_ played: PlayService, _ offline: PlayService) { (self.played, self.offline) = (played, offline) }

    /// - Parameters:
    ///   - buys: True if a customer buys, and disputes the payment; nil for every third hour.
    ///   - works: False if the service ends before it does what is due.
    mutating func pass(
        _ hour: Int, isServiceUp: Bool, isStoreUp: Bool, buys: Bool? = nil, works: Bool = true
    ) async throws {
        played.fixture.advance(seconds: 3600)
        try played.play.perform { _ in }
        if isServiceUp, isStoreUp, buys ?? (hour % 3 == 0) { try await buy(hour) }
        guard isServiceUp else { return }
        for notification in waiting {
            pushed += 1
            guard try await played.push(notification, identifier: "dispute-\(pushed)").status == 200 else {
                throw Failure.refused
            }
        }
        waiting = []
        guard works else { return }
        let service = isStoreUp ? played : offline
        try await service.acknowledge()
        try await service.app.refundReviewResponder(
            answering: (.decline, false), metrics: service.metrics, logger: ServiceFixture.logger
        ).perform()
    }

    private enum Failure: Error { case refused }

    private mutating func buy(_ hour: Int) async throws {
        let bought = try played.fixture.buy("garden.gate") { $0.account = "customer\(hour)" }
        guard try await played.redeem(bought.token, for: "customer\(hour)").status == 200, let order = bought.orderId
        else { throw Failure.refused }
        purchases.append(bought.number)
        orders.append(order)
        let dispute = try played.play.perform { try $0.dispute(order: order) }
        let now = played.fixture.garden.clock.now().millisecondsSince1970
        waiting.append(
            #"{"version":"1.0","packageName":"\#(TestGarden.bundleIdentifier)","eventTimeMillis":"\#(now)","#
                + #""pendingRefundReviewNotification":{"pendingRefundToken":"\#(dispute.pendingRefundToken)","#
                + #""orderId":"\#(order)","refundReason":7}}"#)
    }
}

extension PlayService {
    fileprivate func duties() async throws -> OpenDuties {
        let origins: Set<Origin> = [.localPlayProduction, .localPlayTest]
        return try await entitlements.openDuties([
            .acknowledgement: origins, .refundReview: origins, .externalTransaction: origins,
        ])
    }

    /// The value of a metric about duties; nil without one.
    fileprivate func metric(_ name: String, of duty: String) async throws -> String? {
        let text = String(decoding: try await send(.get, "/metrics").jsonData, as: UTF8.self)
        let prefix = name == "left" ? "till_duty_seconds_left" : "till_duties_\(name)"
        return text.split(separator: "\n").first { $0.hasPrefix("\(prefix){duty=\"\(duty)\"} ") }
            .flatMap { $0.split(separator: " ").last }.map(String.init)
    }

    fileprivate func secondsLeft(of duty: String) async throws -> Int? {
        try await metric("left", of: duty).flatMap { Int($0) }
    }

    fileprivate func states(of orders: [String]) throws -> [RefundReview.State] {
        try play.perform { try $0.reviews() }.filter { orders.contains($0.orderId) }.map(\.state)
    }
}
