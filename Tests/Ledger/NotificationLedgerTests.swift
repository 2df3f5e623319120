import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The lists of received notifications, in either database.
@Suite struct NotificationLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// Receives a notification.
    private func receive(
        _ uuid: String,
        type: String = "REFUND",
        app: String = "com.example.app",
        origin: Origin = .localSandbox,
        stating claim: Claim? = nil,
        signedAt: Timestamp = now,
        at moment: Timestamp = now
    ) async throws -> NotificationOutcome {
        let record = NotificationRecord(
            app: app, origin: origin, notificationUUID: uuid, type: type, subtype: "S", signedAt: signedAt,
            proofDigest: [UInt8](repeating: 8, count: 32), content: #"{"a":1}"#)
        return try await ledger.write { try $0.record(record, stating: claim, at: moment) }
    }

    private func list(
        type: String? = nil,
        outcome: NotificationOutcome? = nil,
        app: String? = nil,
        store: PurchaseStore? = nil,
        by size: Int = 2
    ) async throws -> [ReceivedNotification] {
        var (all, position): ([ReceivedNotification], ReceivedNotification.Position?) = ([], nil)
        repeat {
            let page = try await ledger.read { [position] in
                try $0.notifications(
                    ofType: type, outcome: outcome, in: app, from: store, before: position, limit: size)
            }
            #expect(page.shown.count <= size)
            all += page.shown
            position = page.next
        } while position != nil
        return all
    }

    @Test func `parked renewals are found and redeemed by the original transaction that they state last`() async throws
    {
        func found(_ identifier: String) async throws -> [String] {
            try await ledger.read { try $0.unclaimedPurchases(ofTransaction: identifier, after: nil, limit: 9) }
                .map(\.transactionIdentifier)
        }
        for number in ["2", "3", "4"] {
            #expect(try await notify("n\(number)", claim(number, original: "1")) == .parked)
        }
        #expect(try await notify("n5", claim("9")) == .parked)
        #expect(try await found("1") == ["2", "3", "4"])
        #expect(try await found("3") == ["3"])
        #expect(try await notify("n6", claim("3", original: "9", signedAt: Self.later(1))) == .parked)
        #expect(try await found("1") == ["2", "4"])
        #expect(try await found("9") == ["3", "9"])
        #expect(try fixture.problems() == [])
        #expect(try await redeem(claim("1"), for: alice) == [.granted])
        let redeemed = try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 9) }
        #expect(redeemed.map(\.transactionIdentifier) == ["4", "2", "1"])
        #expect(try await found("1") == [])
        #expect(try await found("9") == ["3", "9"])
        #expect(try fixture.problems() == [])
    }

    @Test func `notifications are listed newest first, with the owner of the purchase`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await receive("a", stating: claim("1", revoked: Self.now, signedAt: Self.later(1)), at: Self.later(1))
        _ = try await receive("b", stating: claim("9", item: nil), at: Self.later(2))
        // The same identifier from another origin, at the same moment.
        _ = try await receive("b", type: "TEST", origin: .localProduction, at: Self.later(2))
        _ = try await receive("c", type: "TEST", at: Self.later(2))
        let all = try await list()
        #expect(all.map(\.notification.notificationUUID) == ["c", "b", "b", "a"])
        #expect(all.map(\.notification.origin) == [.localSandbox, .localSandbox, .localProduction, .localSandbox])
        #expect(all.map(\.owner) == [nil, nil, nil, alice])
        #expect(all.map(\.notification.outcome) == [.recorded, .parked, .recorded, .revoked])
        #expect(all.map(\.app) == Array(repeating: "com.example.app", count: 4))
        #expect(all.allSatisfy { $0.repeatedAt == nil && $0.settledAt == nil && !$0.isLate })
        #expect(try await ledger.write { try $0.erase(alice, by: .user, at: Self.now) })
        #expect(try await list().allSatisfy { $0.owner == nil })
    }

    @Test func `a list has the notifications of a type, an outcome and an app`() async throws {
        for number in 0..<12 {
            _ = try await receive(
                "n\(number)", type: number.isMultiple(of: 2) ? "TEST" : "REFUND",
                app: number.isMultiple(of: 3) ? "com.example.other" : "com.example.app",
                stating: number > 5 ? claim("\(number)", item: nil) : nil, at: Self.later(Int64(number)))
        }
        func numbers(_ found: [ReceivedNotification]) -> [Int] {
            found.compactMap { Int($0.notification.notificationUUID.dropFirst()) }
        }
        #expect(try await numbers(list(type: "TEST")) == [10, 8, 6, 4, 2, 0])
        #expect(try await numbers(list(outcome: .parked)) == [11, 10, 9, 8, 7, 6])
        #expect(try await numbers(list(outcome: .recorded)) == [5, 4, 3, 2, 1, 0])
        #expect(try await numbers(list(app: "com.example.other")) == [9, 6, 3, 0])
        #expect(try await receive("p", type: "VOIDED_PURCHASE", origin: .googleProduction) == .recorded)
        #expect(try await list(store: .playStore).map(\.notification.notificationUUID) == ["p"])
        #expect(try await list(outcome: .recorded, store: .appStore).count == 6)
        #expect(try await numbers(list(type: "REFUND", outcome: .parked)) == [11, 9, 7])
        #expect(
            try await numbers(list(type: "REFUND", outcome: .parked, app: "com.example.other"))
                == [9])
        #expect(
            try await numbers(list(outcome: .parked, app: "com.example.app")) == [11, 10, 8, 7])
        #expect(try await numbers(list(app: "com.example.none")) == [])
        #expect(try await numbers(list(type: "NONE")) == [])
    }

    @Test func `a repetition is noted once`() async throws {
        #expect(try await receive("a") == .recorded)
        for second: Int64 in [5, 9] { #expect(try await receive("a", at: Self.later(second)) == .duplicate) }
        // The same notification twice in one commit.
        let record = NotificationRecord(
            app: "com.example.app", origin: .localSandbox, notificationUUID: "b", type: "TEST", subtype: nil,
            signedAt: Self.now, proofDigest: [UInt8](repeating: 8, count: 32))
        _ = try await ledger.write {
            try $0.decide(
                [.notify(record, stating: nil), .notify(record, stating: nil)], under: .keep,
                accepting: AcceptedOrigins([.localSandbox]), at: Self.later(7))
        }
        let found = try await list()
        #expect(found.map(\.notification.notificationUUID) == ["b", "a"])
        #expect(found.map(\.repeatedAt) == [Self.later(7), Self.later(5)])
        #expect(found.map(\.notification.receivedAt) == [Self.later(7), Self.now])
    }

    @Test func `a notification is late an hour after its signature`() async throws {
        _ = try await receive("a", at: Self.later(3599))
        _ = try await receive("b", at: Self.later(3600))
        #expect(try await list().map(\.isLate) == [true, false])
    }

    @Test func `one notification is found by its identifier and its origin`() async throws {
        _ = try await receive("a", type: "TEST")
        _ = try await receive("a", type: "REFUND", origin: .appleSandbox)
        let found = try await ledger.read { try $0.notification("a", of: .appleSandbox) }
        #expect(found?.notification.type == "REFUND")
        #expect(found?.notification.content == #"{"a":1}"#)
        #expect(try await ledger.read { try $0.notification("a", of: .xcode) } == nil)
        #expect(try await ledger.read { try $0.notification("b", of: .localSandbox) } == nil)
    }

    @Test func `a settled consumption request has the time of its answer`() async throws {
        _ = try await receive("a", type: "CONSUMPTION_REQUEST", stating: claim("9", item: nil))
        let open = try await ledger.read {
            try $0.openConsumptionRequests(at: Self.now, of: [.localSandbox], limit: 9)
        }
        try await ledger.write { try $0.settle(try #require(open.first), at: Self.later(3)) }
        #expect(
            try await list(type: "CONSUMPTION_REQUEST").map(\.settledAt) == [Self.later(3)])
    }

    @Test func `a checkpoint of the reconciliation has the findings of its run`() async throws {
        #expect(try await ledger.read { try $0.checkpoint(ofReconciliation: "s") } == nil)
        try await ledger.write { try $0.setReconciled("s", until: Self.later(1), findings: ["granted": 2, "b": 1]) }
        // An earlier run that ends later changes nothing.
        try await ledger.write { try $0.setReconciled("s", until: Self.now, findings: [:]) }
        let checkpoint = try await ledger.read { try $0.checkpoint(ofReconciliation: "s") }
        #expect(checkpoint?.until == Self.later(1) && checkpoint?.findings == ["granted": 2, "b": 1])
        try await ledger.write { try $0.setReconciled("s", until: Self.later(2), findings: [:]) }
        #expect(try await ledger.read { try $0.checkpoint(ofReconciliation: "s") }?.findings == [:])
    }
}
