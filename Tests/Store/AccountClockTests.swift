import AppStore
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The clocks of accounts: two customers of one store at different times.
@Suite struct AccountClockTests {
    let garden: TestGarden
    var store: Store { garden.store }

    init() throws {
        garden = try TestGarden(start: "2026-10-10T12:00:00Z")
    }

    private static let premium = "garden.premium.monthly"

    /// The identifier of the sale to an account.
    private func buy(_ product: String = premium, account: String) throws -> String {
        try #require(try garden.buy(product, account: account).purchase).transactionIdentifier
    }

    private func advance(_ account: String, _ step: String) throws -> String {
        try store.advance(try #require(TimeStep(step)), of: account).rfc3339
    }

    private func status(_ transaction: String) throws -> StatusResponse.LastTransactionsItem {
        let answer = try store.readOrThrow { try $0.allSubscriptionStatuses(transaction, statuses: []) }
        return try #require(answer.data.first?.lastTransactions.first)
    }

    /// The types of the notifications about an account, each with the date of its signature.
    private func told(_ account: String) throws -> [String] {
        let sold = Set(try store.history(of: account).map(\.transactionIdentifier))
        let signed = try garden.notifications()
        return try zip(store.notifications(), signed).filter { sold.contains($0.0.transactionIdentifier ?? "") }
            .map { "\($0.1.notificationType) \($0.1.signedDate.rfc3339)" }
    }

    @Test func `the time of one account renews its subscription, and no other`() throws {
        _ = try buy(account: "alice")
        let bobs = try buy(account: "bob")
        #expect(try advance("alice", "2mo") == "2026-12-10T12:00:00Z")
        #expect(try store.history(of: "alice").map(\.purchaseDate.rfc3339).last == "2026-12-10T12:00:00Z")
        #expect(
            try told("alice") == [
                "SUBSCRIBED 2026-10-10T12:00:00Z", "DID_RENEW 2026-11-10T12:00:00Z", "DID_RENEW 2026-12-10T12:00:00Z",
            ])
        #expect(try store.history(of: "bob").map(\.transactionIdentifier) == [bobs])
        #expect(try told("bob") == ["SUBSCRIBED 2026-10-10T12:00:00Z"])
        #expect(try store.time(of: "bob") == garden.clock.now())
        #expect(store.now == garden.clock.now())
        #expect(store.latestClock.now() == (try store.time(of: "alice")))
    }

    @Test func `the store's clock moves only the accounts without their own`() throws {
        _ = try buy(account: "alice")
        _ = try buy(account: "bob")
        _ = try advance("alice", "1d")
        try garden.advance(to: "2027-01-11T12:00:00Z")
        #expect(try store.time(of: "alice").rfc3339 == "2026-10-11T12:00:00Z")
        #expect(try store.history(of: "alice").count == 1)
        #expect(try store.history(of: "bob").count == 4)
        let events = try store.dueEvents(after: garden.clock.now(), until: store.now)
        #expect(Set(events.map(\.account)) == ["bob"])
        // The machine's clock moves both.
        garden.clock.advance(milliseconds: 31 * 86_400_000)
        #expect(try store.time(of: "alice").rfc3339 == "2026-11-11T12:00:00Z")
        #expect(try store.history(of: "alice").count == 2)
        #expect(try store.history(of: "bob").count == 5)
    }

    @Test func `what happens to an account has the account's time`() throws {
        let alices = try buy(account: "alice")
        let bobs = try buy(account: "bob")
        _ = try advance("alice", "10d")
        let time = try store.time(of: "alice")
        for (account, transaction, expected) in [("alice", alices, time), ("bob", bobs, store.now)] {
            let item = try status(transaction)
            #expect(try garden.transaction(item.signedTransactionInfo).signedDate == expected)
            #expect(try garden.renewalInfo(item.signedRenewalInfo).signedDate == expected)
            let seeds = try buy("garden.seeds", account: account)
            #expect(try store.sale(seeds).purchaseDate == expected)
            try store.refund(transaction)
            #expect(try store.sale(transaction).revocation?.date == expected)
            #expect(
                try told(account).suffix(2).map { $0.split(separator: " ")[1] == expected.rfc3339 } == [true, true])
            guard case .appReceipt(let receipt) = try garden.verify(store.receipt(account: account)) else {
                Issue.record("another kind of proof")
                return
            }
            #expect(receipt.creationDate == expected)
        }
    }

    @Test func `failed renewals, grace, retries and consent take place in the account's time`() throws {
        let transactions = try ["alice", "bob", "carol", "dave"].map { try buy(account: $0) }
        try store.requestPriceIncrease(of: transactions[1], to: 20_000, needsConsent: true)
        try store.requestPriceIncrease(of: transactions[3], to: 20_000, needsConsent: true)
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        #expect(try advance("bob", "1mo") == "2026-11-10T12:00:00Z")
        var met: [Status] = []
        for step in ["31d", "16d", "60d"] {
            _ = try advance("alice", step)
            met.append(try status(transactions[0]).status)
        }
        #expect(met == [.billingGracePeriod, .billingRetry, .expired])
        let bob = try #require(try store.subscriptions(of: "bob").first)
        #expect(bob.expirationIntent == .customerDidNotConsentToPriceIncrease)
        for transaction in transactions.suffix(2) { #expect(try status(transaction).status == .active) }
        let alice = try store.dueEvents(after: garden.clock.now(), until: store.latestClock.now(), of: "alice")
        #expect(alice.map(\.kind) == [.renewalFailed, .gracePeriodEnded, .expired])
        #expect(alice.map(\.date) == alice.map(\.date).sorted())
        #expect(try store.dueEvents(after: garden.clock.now(), until: store.latestClock.now()) == [])
    }

    @Test func `a reopened store has the accounts' times, and a reset forgets them`() throws {
        _ = try buy(account: "alice")
        _ = try advance("alice", "1mo")
        let other = try Store(
            folder: garden.folder.folder("store"), bundleIdentifier: garden.bundleIdentifier,
            configuration: store.configuration, clock: garden.clock, randomness: .system)
        #expect(try other.time(of: "alice").rfc3339 == "2026-11-10T12:00:00Z")
        #expect(try other.read { try $0.accountTimes() }.map(\.account) == ["alice"])
        #expect(try other.reset().clock)
        #expect(try store.read { try $0.accountTimes() } == [])
        #expect(throws: StoreError.accountUnknown("alice")) { try store.time(of: "alice") }
        _ = try buy(account: "alice")
        #expect(try store.time(of: "alice") == garden.clock.now())
        #expect(try !store.reset().clock)
    }

    @Test func `deleted sales leave the accounts' times`() throws {
        _ = try buy(account: "alice")
        _ = try advance("alice", "1mo")
        try store.clearTransactions()
        #expect(try store.time(of: "alice").rfc3339 == "2026-11-10T12:00:00Z")
        let again = try buy(account: "alice")
        #expect(try store.sale(again).purchaseDate.rfc3339 == "2026-11-10T12:00:00Z")
    }

    @Test func `an unknown account and a step of another length are refused, and move nothing`() throws {
        _ = try buy(account: "alice")
        #expect(throws: StoreError.accountUnknown("bob")) { try store.advance(.seconds(1), of: "bob") }
        #expect(throws: StoreError.accountInvalid("")) { try store.advance(.seconds(1), of: "") }
        for seconds in [-1, 11 * 366 * 86_400] as [Int64] {
            #expect(throws: StoreError.self) { try store.advance(.seconds(seconds), of: "alice") }
        }
        #expect(try store.read { try $0.accountTimes() } == [])
        #expect(StoreError.accountUnknown("bob").message.contains("\"bob\""))
        // A payment that waits is enough.
        _ = try store.add(Payment(productIdentifier: "garden.gate"), account: "bob")
        #expect(try store.advance(.seconds(60), of: "bob") == garden.clock.now().adding(seconds: 60))
    }

    @Test func `failed deliveries are tried again in the account's time`() throws {
        let garden = try TestGarden(environment: .production)
        let store = garden.store
        _ = try store.update { $0.notificationsURL = URL(string: "http://127.0.0.1:1/apple") }
        for account in ["alice", "bob"] { try garden.buy("garden.seeds", account: account) }
        _ = try store.advance(.seconds(1), of: "alice")
        /// Fails each due delivery, and returns the accounts that they are about.
        func fail() throws -> [String] {
            var accounts: [String] = []
            while let delivery = try store.nextDelivery() {
                let notification = try store.listedNotification(delivery.notificationUUID)
                accounts.append(try store.sale(try #require(notification.transactionIdentifier)).account)
                try store.record(.socketIssue, of: delivery)
            }
            return accounts
        }
        #expect(try fail() == ["alice", "bob"])
        // Apple tries again after an hour.
        _ = try store.advance(.seconds(3600), of: "alice")
        #expect(try fail() == ["alice"])
        _ = try store.advance(seconds: 3600)
        #expect(try fail() == ["bob"])
        _ = try store.advance(seconds: 30 * 86_400)
        #expect(try fail() == ["bob", "bob", "bob", "bob"])
        let replayed = try #require(try store.notifications().first).notificationUUID
        try store.replay(replayed)
        #expect(try store.nextDelivery()?.notificationUUID == replayed)
    }

    @Test func `the clock of an account goes from one event to the next`() async throws {
        _ = try buy(account: "alice")
        _ = try buy(account: "bob")
        let end = try await store.advance(
            try #require(TimeStep("1y")), of: "alice", deliveringWithin: Store.longestDelivery)
        #expect(end.rfc3339 == "2027-10-10T12:00:00Z")
        #expect(try store.history(of: "alice").count == 13)
        #expect(try store.history(of: "bob").count == 1)
        await #expect(throws: StoreError.accountUnknown("carol")) {
            try await store.advance(.seconds(1), of: "carol", deliveringWithin: Store.longestDelivery)
        }
    }

    @Test func `the history of notifications goes back from the customer's time`() throws {
        let alices = try buy(account: "alice")
        let bobs = try buy(account: "bob")
        _ = try advance("alice", "1y")
        func history(of transaction: String?) throws -> Int {
            let start = garden.clock.now().millisecondsSince1970
            let filter = transaction.map { #","transactionId":"\#($0)""# } ?? ""
            let request = try JSONDecoder().decode(
                NotificationHistoryRequest.self,
                from: Data(#"{"startDate":\#(start),"endDate":\#(start + 400 * 86_400_000)\#(filter)}"#.utf8))
            return try store.readOrThrow { try $0.notificationHistory(request, paginationToken: nil) }
                .notificationHistory.count
        }
        #expect(try history(of: bobs) == 1)
        #expect(try history(of: nil) == 14)
        #expect(throws: ServerAPIError.startDateTooFarInPast) { _ = try history(of: alices) }
    }
}
