import AppStore
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The controls of a tester and their reports.
@Suite struct TesterControlTests {
    let garden: TestGarden
    var store: Store { garden.store }

    init() throws {
        garden = try TestGarden(start: "2026-10-10T12:00:00Z")
    }

    private static let monthly = "garden.basic.monthly"
    private static let premium = "garden.premium.monthly"

    private func effect(_ product: String) throws -> PurchaseEffect? {
        try store.effect(of: try garden.buy(product).identifier)
    }

    private func isCharged(_ effect: PurchaseEffect?) -> Bool {
        if case .charged? = effect { true } else { false }
    }

    @Test func `a payment that charges has its price as its effect`() throws {
        #expect(try effect("garden.gate") == .charged(Price(milliunits: 19_990, currency: "USD")))
        // A non-consumable that the account owns is free.
        #expect(try effect("garden.gate") == .charged(Price(milliunits: 0, currency: "USD")))
        #expect(try effect(Self.monthly) == .charged(Price(milliunits: 0, currency: "USD"), isTrial: true))
        // An upgrade is charged at once.
        #expect(try effect(Self.premium) == .charged(Price(milliunits: 9990, currency: "USD")))
    }

    @Test func `a payment for the active subscription charges nothing, after a renewal too`() throws {
        _ = try garden.buy(Self.premium)
        let first = try #require(Timestamp(rfc3339: "2026-11-10T12:00:00Z"))
        #expect(try effect(Self.premium) == .alreadySubscribed(renewalDate: first))
        try garden.advance(to: "2026-11-20T12:00:00Z")
        let second = try #require(Timestamp(rfc3339: "2026-12-10T12:00:00Z"))
        #expect(try effect(Self.premium) == .alreadySubscribed(renewalDate: second))
        #expect(try store.history(of: "alice").count == 2)
        // An expired subscription begins anew and is charged.
        try store.expire(try #require(try store.history(of: "alice").last).transactionIdentifier)
        #expect(try isCharged(effect(Self.premium)))
    }

    @Test func `a downgrade takes effect at the renewal, and charges nothing`() throws {
        _ = try garden.buy(Self.premium)
        let date = try #require(Timestamp(rfc3339: "2026-11-10T12:00:00Z"))
        for _ in 1...2 {
            #expect(try effect(Self.monthly) == .changes(productIdentifier: Self.monthly, date: date))
        }
        // The change is cancelled.
        #expect(try effect(Self.premium) == .alreadySubscribed(renewalDate: date))
    }

    @Test func `an effect has the price that was charged, or the date and the product of the renewal`() throws {
        let price = Price(milliunits: 4990, currency: "USD")
        let charged = PurchaseEffect.charged(price)
        #expect((charged.name, charged.price) == ("charged", price))
        #expect((charged.renewalDate, charged.nextProductIdentifier) == (nil, nil))
        let date = try #require(Timestamp(rfc3339: "2026-11-10T12:00:00Z"))
        let same = PurchaseEffect.alreadySubscribed(renewalDate: date)
        #expect((same.name, same.price) == ("alreadySubscribed", nil))
        #expect((same.renewalDate, same.nextProductIdentifier) == (date, nil))
        let other = PurchaseEffect.changes(productIdentifier: Self.monthly, date: date)
        #expect((other.name, other.price) == ("changes", nil))
        #expect((other.renewalDate, other.nextProductIdentifier) == (date, Self.monthly))
    }

    @Test func `a payment that sold nothing has no effect`() throws {
        let added = try store.add(
            Payment(productIdentifier: "garden.gate"), account: "alice", outcome: .failed(.paymentCancelled))
        #expect(try store.effect(of: added.identifier) == nil)
        _ = try store.process(account: "alice")
        #expect(try store.effect(of: added.identifier) == nil)
        #expect(throws: StoreError.transactionNotFound(99)) { try store.effect(of: 99) }
    }

    @Test func `an interrupted payment is one until it is completed`() throws {
        _ = try store.update { $0.areInterruptedPurchasesEnabled = true }
        let bought = try garden.buy("garden.gate")
        #expect(try store.isInterrupted(bought.identifier))
        _ = try store.resolveIssue(bought.identifier)
        #expect(try !store.isInterrupted(bought.identifier))
        let added = try store.add(
            Payment(productIdentifier: "garden.gate"), account: "alice", outcome: .failed(.unknown))
        _ = try store.process(account: "alice")
        #expect(try !store.isInterrupted(added.identifier))
    }

    @Test func `due events have their own dates, in order`() throws {
        _ = try garden.buy(Self.premium)
        _ = try garden.buy(Self.monthly, offer: nil)
        let start = store.now
        try garden.advance(to: "2026-11-20T12:00:00Z")
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        try garden.advance(to: "2027-03-20T12:00:00Z")
        let events = try store.dueEvents(after: start, until: store.now)
        #expect(events.map(\.kind) == [.renewed, .renewalFailed, .gracePeriodEnded, .expired])
        #expect(events.map(\.date.rfc3339).prefix(2) == ["2026-11-10T12:00:00Z", "2026-12-10T12:00:00Z"])
        #expect(events.map(\.date) == events.map(\.date).sorted())
        #expect(Set(events.map(\.productIdentifier)) == [Self.monthly])
        #expect(Set(events.map(\.account)) == ["alice"])
        let first = try #require(events.first)
        #expect(try store.dueEvents(after: first.date, until: store.now) == Array(events.dropFirst()))
        #expect(try store.dueEvents(after: start, until: first.date) == [first])
    }

    @Test func `a reset clears all but keys, products and the address of notifications`() throws {
        let address = try #require(URL(string: "http://127.0.0.1:1/apple"))
        let settings = try store.update { $0.notificationsURL = address }
        let key = try store.makeTeamKey { _, _ in }
        let before = store.now
        _ = try garden.buy(Self.monthly)
        _ = try store.advance(.seconds(3600))
        _ = try store.update { $0.isAskToBuyEnabled = true }
        try store.add([.drop])
        let result = try store.reset()
        #expect((result.sales, result.notifications, result.clock, result.settings) == (1, 1, true, true))
        #expect(try store.history(of: "alice") == [])
        #expect(try store.transactions().isEmpty)
        #expect(try store.notifications() == [])
        #expect(store.now == before)
        #expect(try store.settings() == settings)
        #expect(try store.teamKeys().map(\.keyIdentifier) == [key.keyIdentifier])
        // The fault is gone: the next notification will be sent.
        _ = try garden.buy(Self.monthly)
        #expect(try store.notifications().map { $0.nextAttemptDate != nil } == [true])
        let again = try store.reset()
        #expect((again.sales, again.clock, again.settings) == (1, false, false))
    }

    @Test func `a fault alone is a setting that a reset clears`() throws {
        try store.add([.duplicate])
        #expect(try store.reset().settings)
        #expect(try !store.reset().settings)
    }

    @Test(arguments: ["duplicate", "reorder", "drop", "delay:0", "delay:31536000"])
    func `a fault has the name that it was made of`(name: String) {
        #expect(NotificationFault(name: name)?.name == name)
    }

    @Test(arguments: ["", "\u{0}", "a\nb", "a\u{7F}", "\u{85}", String(repeating: "a", count: 257)])
    func `an account of another form buys nothing, and no purchase is shared with it`(account: String) throws {
        let payment = Payment(productIdentifier: "garden.gate")
        #expect(throws: StoreError.accountInvalid(account)) { try store.add(payment, account: account) }
        let sold = try #require(try garden.buy("garden.gate").purchase).transactionIdentifier
        #expect(throws: StoreError.accountInvalid(account)) { try store.share(sold, with: account) }
        #expect(StoreError.accountInvalid(account).message.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(arguments: ["a", "앨 리스", "alice@example.com", String(repeating: "é", count: 128)])
    func `an account has any other name`(account: String) throws {
        #expect(try garden.buy("garden.gate", account: account).state == .purchased)
    }
}
