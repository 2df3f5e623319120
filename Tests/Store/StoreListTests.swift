import AppStore
import Foundation
import Proofs
import TestSupport
import Testing

/// The lists of the store, which people read page by page.
@Suite struct StoreListTests {
    let garden: TestGarden
    var store: Store { garden.store }

    init() throws {
        garden = try TestGarden(start: "2026-10-10T12:00:00Z")
    }

    @Test func `transactions are listed newest first, page by page, of all accounts or of one`() throws {
        for account in ["alice", "bob", "alice"] { try garden.buy("garden.seeds", account: account) }
        let all = try store.listedTransactions(limit: 10)
        #expect(all.map(\.transaction.account) == ["alice", "bob", "alice"])
        let first = try store.listedTransactions(limit: 2)
        let second = try store.listedTransactions(before: first.last?.number, limit: 2)
        #expect((first + second).map(\.number) == all.map(\.number))
        #expect(try store.listedTransactions(of: "bob", limit: 10).map(\.number) == [all[1].number])
        #expect(try store.listedTransactions(of: "nobody", limit: 10).isEmpty)
        #expect(try store.recentAccounts() == ["alice", "bob"])
    }

    @Test func `transactions are filtered by product and state`() throws {
        func buy(_ name: String) throws -> String {
            try #require(try garden.buy("garden.\(name)").purchase).transactionIdentifier
        }
        let (seeds, gate, premium) = (try buy("seeds"), try buy("gate"), try buy("premium.monthly"))
        func listed(_ product: String? = nil, _ state: ListedState? = nil) throws -> [String] {
            try store.listedTransactions(product: product, in: state, limit: 10).map(
                \.transaction.transactionIdentifier)
        }
        #expect(try listed("garden.gate") == [gate])
        #expect(try listed(nil, .unfinished) == [premium, gate, seeds])
        for queued in try store.transactions() where queued.transaction.purchase?.transactionIdentifier != gate {
            _ = try store.finish(queued.transaction.identifier, account: "alice")
        }
        #expect(try listed(nil, .unfinished) == [gate])
        try store.requestRefund(of: seeds)
        #expect(try listed(nil, .refundRequested) == [seeds])
        try store.refund(seeds)
        #expect(try listed(nil, .refundRequested) == [] && listed(nil, .revoked) == [seeds])
        #expect(try listed(nil, .subscribed) == [premium] && listed(nil, .unpaid) == [])
        for hasGracePeriod in [true, false] {
            try store.failRenewal(of: premium, hasGracePeriod: hasGracePeriod)
            // The second time, there is a renewal besides.
            #expect(try listed(nil, .unpaid).last == premium && listed(nil, .subscribed) == [])
            try store.resolveBillingIssue(of: premium)
        }
        #expect(try listed("garden.seeds", .subscribed) == [])
    }

    @Test func `a listed transaction has its payment and its subscription`() throws {
        let bought = try garden.buy("garden.premium.monthly")
        try garden.advance(to: "2026-11-20T12:00:00Z")
        let original = try #require(bought.purchase).originalTransactionIdentifier
        let listed = try store.listedTransactions(original: original, limit: 10)
        #expect(listed.map(\.payment?.transaction.identifier) == [nil, bought.identifier])
        let subscription = try #require(listed.first?.subscription)
        #expect(listed.last?.subscription == subscription)
        #expect(try store.subscriptions(of: "alice") == [subscription])
        #expect(subscription.status == .active)
        #expect(subscription.dueDate == Timestamp(rfc3339: "2026-12-10T12:00:00Z"))
        #expect(subscription.renewalPrice == Price(milliunits: 9990, currency: "USD"))
        #expect(subscription.priceIncrease == nil)
        let found = try store.listedTransaction(original)
        #expect(found.transaction == listed.last?.transaction)
        #expect(throws: StoreError.saleNotFound("1")) { try store.listedTransaction("1") }
    }

    @Test func `the subscription of a list has the announced price and the next product`() throws {
        let sold = try #require(try garden.buy("garden.premium.monthly").purchase).transactionIdentifier
        try store.requestPriceIncrease(of: sold, to: 12_000, needsConsent: true)
        let announced = try #require(try store.listedTransaction(sold).subscription)
        #expect(announced.priceIncrease?.price == Price(milliunits: 12_000, currency: "USD"))
        #expect(announced.priceIncrease?.isAccepted == false)
        #expect(announced.renewalPrice == Price(milliunits: 12_000, currency: "USD"))
        try garden.buy("garden.basic.monthly")
        let changed = try #require(try store.listedTransaction(sold).subscription)
        #expect(changed.autoRenewProductIdentifier == "garden.basic.monthly")
        #expect(changed.productIdentifier == "garden.premium.monthly")
        #expect(changed.priceIncrease == nil)
    }

    @Test func `the queue is listed newest first, with or without finished transactions`() throws {
        let first = try garden.buy("garden.seeds")
        let second = try garden.buy("garden.seeds", account: "bob")
        _ = try store.update { $0.isAskToBuyEnabled = true }
        let third = try garden.buy("garden.gate")
        _ = try store.finish(first.identifier, account: "alice")
        func numbers(_ account: String? = nil, isUnfinished: Bool, before: Int64? = nil) throws -> [Int64] {
            try store.queuedTransactions(of: account, isUnfinished: isUnfinished, before: before, limit: 2)
                .map(\.transaction.identifier)
        }
        #expect(try numbers(isUnfinished: true) == [third.identifier, second.identifier])
        #expect(try numbers(isUnfinished: false, before: second.identifier) == [first.identifier])
        #expect(try numbers("alice", isUnfinished: true) == [third.identifier])
        #expect(try numbers("alice", isUnfinished: false) == [third.identifier, first.identifier])
        #expect(try store.queuedTransaction(third.identifier).transaction.state == .deferred)
        #expect(throws: StoreError.transactionNotFound(99)) { try store.queuedTransaction(99) }
    }

    @Test func `notifications are listed newest first, page by page`() throws {
        for _ in 0..<3 { try garden.buy("garden.seeds") }
        let all = try store.notifications().map(\.notificationUUID)
        let first = try store.listedNotifications(limit: 2)
        let second = try store.listedNotifications(before: first.last?.number, limit: 2)
        #expect((first + second).map(\.notificationUUID) == all.reversed())
        let uuid = try #require(all.first)
        #expect(try store.listedNotification(uuid) == store.notifications().first)
        let other = UUID()
        #expect(throws: StoreError.notificationNotFound(other)) { try store.listedNotification(other) }
    }

    @Test func `a list of due events has a limit`() throws {
        try garden.buy("garden.premium.monthly")
        let start = store.now
        try garden.advance(to: "2027-10-20T12:00:00Z")
        #expect(try store.dueEvents(after: start, until: store.now).count == 12)
        #expect(try store.dueEvents(after: start, until: store.now, limit: 5).count == 5)
    }

    @Test func `faults wait for the next notifications until they are cleared`() throws {
        try store.add([.drop, .delay(seconds: 5)])
        #expect(try store.faults() == [.drop, .delay(seconds: 5)])
        try garden.buy("garden.seeds")
        #expect(try store.faults() == [.delay(seconds: 5)])
        try store.clearFaults()
        #expect(try store.faults() == [])
    }

    @Test func `a renewal has a signed form, which is damaged if verification is simulated to fail`() throws {
        try garden.buy("garden.premium.monthly")
        try garden.advance(to: "2026-11-20T12:00:00Z")
        let renewal = try #require(try store.listedTransactions(limit: 1).first).transaction
        let signed = try store.signedTransaction(of: renewal.transactionIdentifier)
        #expect(try garden.transaction(signed).transactionId == renewal.transactionIdentifier)
        _ = try store.update { $0.simulatedErrors[.verification] = .invalidSignature }
        let damaged = try store.signedTransaction(of: renewal.transactionIdentifier)
        #expect(throws: ProofRefusal.self) { try garden.transaction(damaged) }
    }

    @Test(arguments: [true, false])
    func `one renewal can fail, with or without a grace period, and be recovered`(hasGracePeriod: Bool) throws {
        let sold = try #require(try garden.buy("garden.premium.monthly").purchase).transactionIdentifier
        try store.failRenewal(of: sold, hasGracePeriod: hasGracePeriod)
        let failed = try #require(try store.listedTransaction(sold).subscription)
        #expect(failed.status == (hasGracePeriod ? .billingGracePeriod : .billingRetry))
        #expect(failed.expiresDate == store.now)
        #expect(try store.sale(sold).expiresDate == store.now)
        let told = try #require(try store.notifications().last)
        #expect((told.type, told.subtype) == (.didFailToRenew, hasGracePeriod ? .gracePeriod : nil))
        #expect(throws: StoreError.self) { try store.failRenewal(of: sold, hasGracePeriod: hasGracePeriod) }
        try store.resolveBillingIssue(of: sold)
        #expect(try store.listedTransaction(sold).subscription?.status == .active)
        #expect(try store.history(of: "alice").count == 2)
    }
}
