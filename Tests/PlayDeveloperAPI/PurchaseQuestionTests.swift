import Entitlements
import Foundation
import Hummingbird
import Ledger
import PlayStore
import Proofs
import Service
import Synchronization
import TestSupport
import Testing

/// The calls that tasks have begun.
private final class Calls: Sendable {
    private let begun = Atomic(0)

    var count: Int { begun.load(ordering: .relaxed) }

    func record() { begun.add(1, ordering: .relaxed) }
}

/// How often the service asks Google Play about a purchase token, counted at a local Play behind a socket.
@Suite struct PurchaseQuestionTests {
    private let garden: PlayGarden
    private var server: PlayServer { garden.server }

    init() async throws {
        garden = try await PlayGarden()
    }

    private func notification(_ number: Int) -> (Origin) -> NotificationRecord {
        let now = server.clock.now()
        return { origin in
            NotificationRecord(
                app: TestGarden.bundleIdentifier, origin: origin, notificationUUID: String(number), type: "TEST",
                subtype: nil, signedAt: now, proofDigest: DigestAlgorithm.sha256.digest(of: []))
        }
    }

    @Test func `all who present a token while a question runs get its answer`() async throws {
        let bought = try server.buy("garden.gate")
        server.hold("/tokens/")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let error = try await garden.present(bought.token)
                    #expect(error == nil)
                }
            }
            await expectEventually { garden.questions == 1 }
            server.release()
            try await group.waitForAll()
        }
        // A new token is asked about as a subscription, and as a product.
        #expect(server.count("subscriptionsv2") == 1 && server.count("productsv2") == 1)
        #expect(try await garden.items() == ["gate 1"])
    }

    /// An answer about a token.
    enum Answer: CaseIterable {
        case known, pending, unknown, malformed, failure, limit, otherForm

        var scripted: PlayServer.Scripted? {
            switch self {
            case .known, .pending, .unknown: nil
            case .malformed: .error(400, "invalid")
            case .failure: .error(503, "backendError")
            case .limit: .error(429, "rateLimitExceeded", headers: [.retryAfter: "30"])
            case .otherForm: .init(status: 200, body: Array("[]".utf8))
            }
        }
    }

    @Test(arguments: Answer.allCases)
    func `an answer counts for ten seconds, whatever it is`(_ answer: Answer) async throws {
        var token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"
        if answer == .known || answer == .pending {
            token = try server.buy("garden.gate") { $0.isPending = answer == .pending }.token
        }
        if let scripted = answer.scripted {
            server.answer { $0.uri.path.contains("/tokens/") ? scripted : nil }
        }
        func present() async -> String {
            do { return "\(try await garden.present(token).map(\.code) ?? "redeemed")" } catch {
                return (error as? RedemptionError)?.code ?? "\(error)"
            }
        }
        let first = await present()
        let asked = garden.questions
        #expect(asked > 0)
        for milliseconds: Int64 in [0, 5000, 4999] {
            garden.advance(milliseconds: milliseconds)
            #expect(await present() == first)
            #expect(garden.questions == asked)
        }
        garden.advance(milliseconds: 1)
        #expect(await present() == first)
        #expect(garden.questions > asked)
    }

    @Test func `a rented item ends with its rental, and can be rented again`() async throws {
        try server.offerRental("P2D")
        let rented = try server.buy("garden.gate") { $0.purchaseOptionId = "rent" }
        #expect(try await garden.present(rented.token) == nil)
        #expect(try await garden.items() == ["gate 1"])
        #expect(throws: PlayError.self) { try server.buy("garden.gate") }
        // The team changes the option. The end that was sold stays.
        try server.offerRental("P9D")
        garden.advance(milliseconds: 2 * 86_400_000 - 1)
        _ = try await garden.app.refresh(rented.token, notifiedBy: notification(1))
        #expect(try await garden.items() == ["gate 1"])
        garden.advance(milliseconds: 1)
        #expect(try await garden.items().isEmpty)
        let again = try server.buy("garden.gate") { $0.purchaseOptionId = "rent" }
        #expect(try await garden.present(again.token) == nil)
        garden.advance(milliseconds: 8 * 86_400_000)
        #expect(try await garden.items() == ["gate 1"])
        #expect(server.count("oneTimeProducts") == 2)
    }

    @Test func `a pre-order is owned from its release on, about which the service asks by itself`() async throws {
        try server.offerPreorder(9)
        let ordered = try server.preorder()
        let release = try #require(ordered.releaseTime)
        do {
            _ = try await garden.present(ordered.token)
            Issue.record("A pre-order is granted before its release.")
        } catch RedemptionError.refused(let refusal) {
            #expect(refusal.reason == .purchasePending && refusal.couldSucceedLater)
            #expect(refusal.detail?.contains(release.rfc3339) == true)
        }
        garden.advance(milliseconds: 9 * 86_400_000 - 1000)
        _ = try await garden.app.refresh(ordered.token, notifiedBy: notification(1))
        #expect(try await garden.items().isEmpty)
        let known = try #require(try await garden.app.purchases.purchase(of: ordered.token))
        #expect(known.askAt == release.adding(seconds: 300))
        // An answer counts for ten seconds.
        garden.advance(milliseconds: 10_000)
        #expect(try await garden.present(ordered.token) == nil)
        #expect(try await garden.items() == ["gate 1"])
        let bought = try await garden.entitlements.transactions(of: garden.alice, before: nil, limit: 9)
        #expect(bought.map { $0.facts.date(.preorderReleaseTime) } == [release])
        #expect(bought.map(\.purchaseDate) == [release] && bought.map(\.expiresAt) == [nil])
    }

    @Test func `an answer of before a clock went back does not count`() async throws {
        let bought = try server.buy("garden.gate")
        #expect(try await garden.present(bought.token) == nil)
        let asked = garden.questions
        garden.advance(milliseconds: -60_000)
        #expect(try await garden.present(bought.token) == nil)
        #expect(garden.questions > asked)
    }

    @Test func `a change is asked about at once, and its answer counts for those who present the token`() async throws {
        let bought = try server.buy("garden.gate")
        #expect(try await garden.present(bought.token) == nil)
        _ = try server.play.perform { try $0.refund(bought.number) }
        garden.advance(milliseconds: 1)
        let asked = garden.questions
        #expect(try await garden.app.refresh(bought.token, notifiedBy: notification(1)) == [.revoked])
        #expect(garden.questions == asked + 1)
        #expect(try await garden.present(bought.token) == nil)
        #expect(garden.questions == asked + 1)
        #expect(try await garden.items().isEmpty)
    }

    @Test func `notifications that arrive while a question runs share the next one`() async throws {
        // notification 1          notifications 2 to 6
        // asks, and is held
        //                         wait: the question began before them
        // has its answer
        //                         ask once
        let bought = try server.buy("garden.gate")
        #expect(try await garden.present(bought.token) == nil)
        let asked = garden.questions
        let begun = Calls()
        server.hold("/tokens/")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await garden.app.refresh(bought.token, notifiedBy: notification(1)) }
            await expectEventually { garden.questions == asked + 1 }
            for number in 2...6 {
                group.addTask {
                    begun.record()
                    _ = try await garden.app.refresh(bought.token, notifiedBy: notification(number))
                }
            }
            await expectEventually { begun.count == 5 }
            #expect(garden.questions == asked + 1)
            server.release()
            try await group.waitForAll()
        }
        // Nobody sees from outside that a call waits. One that begins after the first answer may ask for itself.
        #expect((2...3).contains(garden.questions - asked))
    }

    @Test func `notifications of one purchase cause thirty questions a minute, and are to come again`() async throws {
        let bought = try server.buy("garden.gate")
        for number in 1...30 {
            _ = try await garden.app.refresh(bought.token, notifiedBy: notification(number))
        }
        await #expect(throws: PlayDeveloperError.limited(seconds: 2)) {
            try await garden.app.refresh(bought.token, notifiedBy: notification(31))
        }
        // What the service asks by itself has no such limit.
        #expect(try await garden.app.refresh(bought.token).count == 1)
        garden.advance(milliseconds: 2000)
        _ = try await garden.app.refresh(bought.token, notifiedBy: notification(31))
    }

    /// A subscription that is redeemed and acknowledged. Google refunds another one after three days.
    private func subscribeAndPresent() async throws -> RecurringPurchase {
        let bought = try server.subscribe()
        #expect(try await garden.present(bought.token) == nil)
        try await garden.app.client.acknowledge(bought.token, of: "garden.basic.monthly", as: .subscription)
        return bought
    }

    @Test(arguments: [(410, "purchaseTokenNoLongerValid"), (404, "purchaseTokenNotFound"), (400, "invalid")])
    func `one answer that there is no such purchase ends no questions about it`(status: Int, reason: String)
        async throws
    {
        let bought = try await subscribeAndPresent()
        let items = try await garden.items()
        server.answer { $0.uri.path.contains("/tokens/") ? .error(status, reason) : nil }
        await #expect(throws: PlayDeveloperError.self) {
            _ = try await garden.app.refresh(bought.token, notifiedBy: notification(1))
        }
        #expect(try await garden.items() == items)
        server.clear()
        #expect(try await garden.app.reconciler.recordSilentPurchases().outcomes == [:])
        garden.advance(milliseconds: 60_000)
        #expect(try await garden.app.purchases.purchasesToAsk(limit: 9).count == 1)
        #expect(try await garden.app.reconciler.recordSilentPurchases().outcomes == ["recorded": 1])
        let known = try #require(try await garden.app.purchases.purchase(of: bought.token))
        #expect(known.refusals == nil && known.askAt != nil)
        // The renewal is found without a notification.
        garden.advance(milliseconds: 31 * 86_400_000)
        #expect(try await garden.app.reconciler.recordSilentPurchases().outcomes == ["granted": 1])
        #expect(try await garden.items() == items)
    }

    @Test func `a purchase is given up when Google Play has forgotten it, and not before`() async throws {
        let bought = try await subscribeAndPresent()
        server.answer { $0.uri.path.contains("/tokens/") ? .error(410, "purchaseTokenNoLongerValid") : nil }
        var days = 0
        var last: [String: Int] = [:]
        repeat {
            days += 1
            garden.advance(milliseconds: 86_400_000)
            last = try await garden.app.reconciler.recordSilentPurchases().outcomes
            #expect(last["googlePlayTokenEnded"] == 1, "day \(days)")
        } while last["givenUp"] == nil && days < 120
        // A month is paid, and Google Play knows the token for 60 days after that.
        #expect((90...93).contains(days))
        #expect(garden.messages.count { $0.hasPrefix("a purchase is given up") } == 1)
        garden.advance(milliseconds: 9 * 86_400_000)
        #expect(try await garden.app.purchases.purchasesToAsk(limit: 9).isEmpty)
        // Somebody tells that there is something about it after all.
        server.clear()
        _ = try await garden.app.refresh(bought.token, notifiedBy: notification(2))
        #expect(try await garden.app.purchases.purchase(of: bought.token)?.askAt != nil)
    }

    @Test func `the money of a one-time purchase is asked for ever more rarely, for sixty days`() async throws {
        let bought = try server.buy("garden.gate")
        #expect(try await garden.present(bought.token) == nil)
        try await garden.app.client.acknowledge(bought.token, of: "garden.gate", as: .product)
        var days: [Int] = []
        for day in 1...70 {
            garden.advance(milliseconds: 86_400_000)
            // A token that is presented says nothing of the money, and puts no question off.
            if day == 3 { #expect(try await garden.present(bought.token) == nil) }
            if try await garden.app.reconciler.recordSilentPurchases().outcomes == ["recorded": 1] { days.append(day) }
        }
        #expect(days == [1, 2, 4, 8, 15, 22, 29, 36, 43, 50, 57])
    }

    @Test func `a purchase that a notification gives up is counted, too`() async throws {
        let bought = try await subscribeAndPresent()
        server.answer { $0.uri.path.contains("/tokens/") ? .error(410, "purchaseTokenNoLongerValid") : nil }
        var days = 0
        while try await garden.app.purchases.purchase(of: bought.token)?.askAt != nil, days < 120 {
            days += 1
            garden.advance(milliseconds: 86_400_000)
            await #expect(throws: PlayDeveloperError.self) {
                _ = try await garden.app.refresh(bought.token, notifiedBy: notification(days))
            }
        }
        #expect((90...93).contains(days))
        #expect(try await garden.app.reconciler.recordSilentPurchases().outcomes == ["givenUp": 1])
        #expect(try await garden.app.reconciler.recordSilentPurchases().outcomes == [:])
    }

    @Test func `a question ends with the last caller who awaits it, and the next caller asks anew`() async throws {
        let bought = try server.buy("garden.gate")
        server.hold("/tokens/")
        let callers = (0..<2).map { _ in Task { try await garden.present(bought.token) } }
        await expectEventually { garden.questions == 1 }
        for caller in callers { caller.cancel() }
        for caller in callers { #expect(try await caller.value == .cancelled) }
        server.release()
        #expect(try await garden.present(bought.token) == nil)
        #expect(try await garden.items() == ["gate 1"])
    }

    @Test func `the places of a minute are for questions, and what the ledger knows needs none`() async throws {
        let app = GooglePlayApp(
            client: try server.client(), app: garden.app.purchases.app, entitlements: garden.entitlements,
            presentedPerMinute: 2)
        func present(_ token: String) async throws { try await app.redeem(token, for: garden.alice) }
        let (gate, seeds) = (try server.buy("garden.gate"), try server.subscribe())
        try await present(gate.token)
        try await present(seeds.token)
        let other = try server.buy("garden.seeds")
        await #expect(throws: PlayDeveloperError.limited(seconds: 30)) { try await present(other.token) }
        // The answers of the last seconds do not count any more.
        garden.advance(milliseconds: 10_000)
        let asked = garden.questions
        try await present(gate.token)
        #expect(garden.questions == asked)
        // The ledger does not know if a period that has ended was renewed.
        garden.advance(milliseconds: 32 * 86_400_000)
        try await present(gate.token)
        try await present(other.token)
        await #expect(throws: PlayDeveloperError.limited(seconds: 30)) { try await present(seeds.token) }
    }
}
