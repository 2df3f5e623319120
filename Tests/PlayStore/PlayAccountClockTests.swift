import Catalog
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import TestSupport
import Testing

/// The clocks of the Play's customers.
@Suite struct PlayAccountClockTests {
    private static let packageName = "com.example.garden"
    private static let day: Int64 = 86_400_000

    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let play: GooglePlay

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        play = try GooglePlay(folder: folder.url, clock: clock, randomness: .seeded(1), newKey: TestKeys().next)
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
        }
    }

    /// Sells a subscription and acknowledges it.
    private func subscribe(_ account: String) throws -> RecurringPurchase {
        try play.perform { books in
            let order = PlayPurchaseOrder(
                packageName: Self.packageName, productId: "garden.basic.monthly", account: account)
            let purchase = try books.subscribe(order)
            try books.acknowledge(purchase, SubscriptionRequests.Acknowledge())
            return purchase
        }
    }

    private func advance(_ text: String, of account: String? = nil) throws -> Timestamp {
        let step = try #require(TimeStep(text))
        return try play.perform { try $0.advance(step, of: account).now }
    }

    private func events(_ text: String, of account: String? = nil) throws -> [String] {
        let step = try #require(TimeStep(text))
        return try play.perform { try $0.advance(step, of: account).events }.map { "\($0.account) \($0.kind.rawValue)" }
    }

    @Test func `an advance tells the renewals and ends that it brings about, in their order`() throws {
        let (alice, bob) = (try subscribe("alice"), try subscribe("bob"))
        #expect(try events("1d") == [])
        #expect(try Set(events("1mo")) == ["alice renewed", "bob renewed"])
        _ = try play.perform { try $0.perform(.declinePayments, on: alice.number) }
        _ = try play.perform { try $0.perform(.cancel, on: bob.number) }
        let ends = try events("1y")
        #expect(ends.count { $0 == "bob expired" } == 1 && ends.count { $0 == "alice expired" } == 1, "\(ends)")
        #expect(ends.first { $0.hasPrefix("alice") } == "alice renewalFailed", "\(ends)")
        #expect(!ends.contains { $0.hasSuffix("renewed") }, "\(ends)")
        let third = try subscribe("carol")
        _ = try subscribe("alice")
        #expect(try events("1mo", of: "carol") == ["carol renewed"])
        let event = try play.perform { try $0.advance(try #require(TimeStep("1mo")), of: "carol").events }.first
        #expect(event?.productIdentifier == "garden.basic.monthly")
        #expect(
            try event?.transactionIdentifier
                == play.perform { try $0.subscription(third.number).periods.last?.orderId })
    }

    private func periods(_ purchase: RecurringPurchase) throws -> Int {
        try play.perform { try $0.subscription(purchase.number).periods.count }
    }

    private func time(of account: String?) throws -> Timestamp { try play.perform { try $0.time(of: account) } }

    @Test func `only the subscriptions of the account renew`() throws {
        let (alice, bob) = (try subscribe("alice"), try subscribe("bob"))
        let start = clock.now()
        #expect(try advance("3mo", of: "alice") == (try time(of: "alice")))
        #expect(try (periods(alice), periods(bob)) == (4, 1))
        #expect(try time(of: nil) == start)
        #expect(try time(of: "bob") == start)
        #expect(try play.perform { try $0.accountTimes().map(\.account) } == ["alice"])
        // The Play's clock no longer moves her, and the machine's does.
        _ = try advance("2mo")
        #expect(try (periods(alice), periods(bob)) == (4, 3))
        let before = try time(of: "alice")
        clock.advance(milliseconds: Self.day)
        #expect(try time(of: "alice") == before.adding(days: 1))
    }

    @Test func `a customer who is ahead buys, cancels and is refunded at that time`() throws {
        let alice = try subscribe("alice")
        let now = try advance("3mo", of: "alice")
        let gate = PlayPurchaseOrder(packageName: Self.packageName, productId: "garden.gate", account: "alice")
        let bought = try play.perform { try $0.buy(gate) }
        #expect(bought.purchaseTime == now)
        let canceled = try play.perform { try $0.perform(.cancel, on: alice.number) }
        #expect(canceled.cancellation == .user(now))
        _ = try play.perform { try $0.refund(bought.number) }
        let date = try play.perform { try $0.notifications(limit: 1) }.first?.date
        #expect(date == now)
        // An unacknowledged purchase is refunded by the customer's clock.
        let again = try play.perform { try $0.buy(gate) }
        _ = try advance("3d", of: "alice")
        #expect(try play.perform { try $0.purchase(again.number) }.state == .canceled)
    }

    @Test func `notifications of a customer who is ahead are sent at once, and late by the customer's clock`() throws {
        _ = try subscribe("alice")
        _ = try advance("1mo", of: "alice")
        try play.perform { books in
            try books.set(PushSettings(endpoint: #require(URL(string: "http://127.0.0.1/google"))))
            try books.add([.delay(seconds: 60)])
        }
        let order = PlayPurchaseOrder(packageName: Self.packageName, productId: "garden.gate", account: "alice")
        let bought = try play.perform { try $0.buy(order) }
        func due() throws -> Int { try play.perform { try $0.dueNotifications(limit: 10).count } }
        #expect(try due() == 0)
        _ = try advance("2min")
        #expect(try due() == 0)
        _ = try advance("60s", of: "alice")
        #expect(try due() == 1)
        _ = try play.perform { try $0.refund(bought.number) }
        #expect(try due() == 2)
    }

    @Test func `an account is known from its first purchase on, and a reset forgets its time`() throws {
        #expect(throws: PlayError.accountUnknown("alice")) { try advance("1d", of: "alice") }
        #expect(throws: PlayError.accountInvalid("")) { try time(of: "") }
        _ = try subscribe("alice")
        _ = try advance("1d", of: "alice")
        #expect(throws: PlayError.self) { try advance("3661d", of: "alice") }
        _ = try play.perform { try $0.reset() }
        #expect(try play.perform { try $0.accountTimes() } == [])
        #expect(throws: PlayError.accountUnknown("alice")) { try time(of: "alice") }
    }

    @Test
    func `a service finds the customer of a charge by its order, and of another purchase by the name of its token`()
        throws
    {
        let names = PurchaseTokenNames(key: Array(repeating: 7, count: 32))
        let service = play.clock(naming: names)
        let alice = try subscribe("alice")
        let bob = try subscribe("bob")
        #expect(!service.hasCustomers)
        #expect(service.time(ofBuyerOf: names.name(of: alice.token)) == nil)
        let now = try advance("2mo", of: "alice")
        let orders = try play.perform { try $0.subscription(alice.number).periods.map(\.orderId) }
        #expect(orders.count == 3)
        for transaction in orders + [names.name(of: alice.token), "\(orders[0]):garden.basic.monthly"] {
            #expect(service.time(ofBuyerOf: transaction) == now, "\(transaction)")
        }
        #expect(service.time(ofBuyerOf: bob.periods[0].orderId) == nil)
        #expect(service.time(ofBuyerOf: names.name(of: bob.token)) == nil)
        #expect(service.customers().map(\.account) == ["alice"])
        #expect(service.customers().first?.originalTransactionIdentifiers == [names.name(of: alice.token)])
        #expect(service.now() == clock.now())
        #expect(play.latestClock.now() == now)
        // The clock without names only says the time.
        #expect(!play.clock.hasCustomers)
    }
}
