import AppStore
import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The entitlements that a service derives from the store's sales, for any kind and order of statements.
@Suite struct SubscriptionEntitlementTests {
    let garden: TestGarden
    let alice: User
    let token: UUID
    var store: Store { garden.store }

    private static let basic = Item(collection: "plus", number: 1)
    private static let premium = Item(collection: "plus", number: 2)

    init() throws {
        garden = try TestGarden()
        alice = try #require(User(name: "alice"))
        token = UUID()
    }

    /// A separate service that knows alice's account token.
    private func service(_ name: String) async throws -> (service: EntitlementService, ledger: Ledger) {
        let ledger = try Ledger(file: garden.folder.file("\(name).sqlite"))
        let service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger, clock: store.clock
        )
        #expect(try await service.setAppAccountToken(token, of: alice) == .set)
        return (service, ledger)
    }

    private func items(_ ledger: Ledger, at date: String) async throws -> [Item] {
        try await ledger.read { try $0.items(of: alice, at: try #require(Timestamp(rfc3339: date))) }
    }

    @Test func `a subscription grants its item while it is paid`() async throws {
        let (service, _) = try await service("ledger")
        let bought = try garden.buy("garden.basic.monthly")
        let proof = Array(try store.signedTransaction(bought.identifier).utf8)
        #expect(try await service.redeem(proof, for: alice).items.contains(Self.basic))
        let line = try #require(try await service.transactions(of: alice, before: nil, limit: 1).first)
        #expect(line.expiresAt?.rfc3339 == "2026-11-07T12:00:00Z")
        // The subscription renews. The service has not received a statement yet.
        try garden.advance(to: "2026-11-07T12:00:00Z")
        #expect(try await !service.items(of: alice).map(\.item).contains(Self.basic))
        // The app presents its receipt, which has both periods.
        _ = try await service.redeem(Array(try store.receipt(account: "alice").utf8), for: alice)
        #expect(try await service.items(of: alice).map(\.item).contains(Self.basic))
    }

    @Test func `a non-renewing subscription ends after the catalog's period`() async throws {
        let (service, ledger) = try await service("ledger")
        let bought = try garden.buy("garden.season")
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        let bed = Item(collection: "bed", number: 1)
        #expect(try await items(ledger, at: "2027-01-31T11:59:59Z") == [bed])
        #expect(try await items(ledger, at: "2027-01-31T12:00:00Z") == [])
    }

    /// Statements about renewals are kept until somebody redeems the purchase.
    @Test func `renewals that arrive before the first period is presented are applied`() async throws {
        let (service, _) = try await service("ledger")
        let bought = try garden.buy("garden.premium.monthly")
        let proof = Array(try store.signedTransaction(bought.identifier).utf8)
        try garden.advance(to: "2026-12-15T12:00:00Z")
        for notification in try store.notifications().reversed() {
            #expect(try await service.receive(notification: Array(notification.signedPayload.utf8)) == .parked)
        }
        #expect(try await service.redeem(proof, for: alice).items.contains(Self.premium))
        #expect(try await service.transactions(of: alice, before: nil, limit: 9).count == 2)
    }

    /// The service's clock is wrong for a while, by a number of days. Proofs signed then may have to be presented again.
    /// Nothing is lost or granted forever.
    @Test(arguments: [-400, -1, 40, 4000] as [Int64])
    func `a clock that jumps revokes nothing`(days: Int64) async throws {
        let clock = ManualClock(store.now)
        let file = garden.folder.file("ledger.sqlite")
        let service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(clock: clock),
            ledger: try Ledger(file: file),
            clock: clock)
        func mend() {
            clock.advance(milliseconds: store.now.millisecondsSince1970 - clock.now().millisecondsSince1970)
        }
        func redeem(_ product: String) async throws -> [Item] {
            let bought = try garden.buy(product)
            let proof = Array(try store.signedTransaction(bought.identifier).utf8)
            let items = { try await service.redeem(proof, for: alice).items }
            guard clock.now() < store.now else { return try await items() }
            await #expect(throws: RedemptionError.self) { _ = try await items() }
            mend()
            return try await items()
        }
        let gate = Item(collection: "gate", number: 1)
        #expect(try await redeem("garden.gate").contains(gate))
        let right = try await redeem("garden.basic.monthly")
        #expect(right.contains(Self.basic))
        clock.advance(milliseconds: days * 86_400_000)
        #expect(try await service.items(of: alice).map(\.item).contains(gate))
        #expect(try await !service.items(of: alice).map(\.item).contains(Self.basic))
        // A day later by the store's clock.
        try garden.advance(to: store.now.adding(days: 1).rfc3339)
        let bed = Item(collection: "bed", number: 1)
        let met = try await redeem("garden.season")
        #expect(met.contains(bed) == (days < 4000))
        mend()
        #expect(try await service.items(of: alice).map(\.item) == (right + [bed]).sorted())
        #expect(try LedgerFile(file).check().problems == [])
    }

    /// A year with every kind of event, delivered in forty orders, with duplicates and partly to the app. All lead to the same
    /// end.
    @Test func `every order of notifications leads to the same entitlements`() async throws {
        try playAYear()
        let told = try store.notifications().map { Array($0.signedPayload.utf8) }
        let (first, ledger) = try await service("in order")
        for payload in told { _ = try await first.receive(notification: payload) }
        let moments = try Self.moments()
        let expected = try moments.map { moment in try ledger.readNow { try $0.items(of: alice, at: moment) } }
        #expect(Set(expected).count == 3)
        let amounts = try await first.balances(of: alice)
        #expect(amounts == [Credit(balance: "seeds", amount: 20)])
        for seed in 0..<40 {
            var chance = SeededGenerator(seed: UInt64(seed))
            var history = told + told.filter { _ in Bool.random(using: &chance) }
            history.shuffle(using: &chance)
            let (service, ledger) = try await service("order \(seed)")
            for payload in history { _ = try await service.receive(notification: payload) }
            let met = try moments.map { moment in try ledger.readNow { try $0.items(of: alice, at: moment) } }
            #expect(met == expected, "seed \(seed)")
            #expect(try await service.balances(of: alice) == amounts, "seed \(seed)")
        }
    }

    /// The same events arrive before somebody redeems the purchases.
    @Test func `every order of parked notifications leads to the same entitlements`() async throws {
        try playAYear()
        let told = try store.notifications().map { Array($0.signedPayload.utf8) }
        let history = try store.history(of: "alice")
        let first = try #require(history.first).transactionIdentifier
        let proof = Array(try store.signedTransaction(of: first).utf8)
        let moments = try Self.moments()
        var expected: [[Item]]?
        for seed in 0..<20 {
            var chance = SeededGenerator(seed: UInt64(seed))
            var history = told + told.filter { _ in Bool.random(using: &chance) }
            history.shuffle(using: &chance)
            let ledger = try Ledger(file: garden.folder.file("parked \(seed).sqlite"))
            let service = EntitlementService(
                apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
                clock: store.clock)
            // The redemption happens somewhere among them. All statements before it are parked.
            let claimed = Int.random(in: 0...history.count, using: &chance)
            for payload in history[..<claimed] { #expect(try await service.receive(notification: payload) != .granted) }
            _ = try await service.redeem(proof, for: alice)
            for payload in history[claimed...] { _ = try await service.receive(notification: payload) }
            let met = try moments.map { moment in try ledger.readNow { try $0.items(of: alice, at: moment) } }
            #expect(Set(met).count == 3)
            #expect(met == expected ?? met, "seed \(seed)")
            expected = met
        }
    }

    /// The grace period also applies to a user who presents its own transaction.
    @Test func `a grace period stated before the transaction is presented is applied`() async throws {
        let (service, ledger) = try await service("ledger")
        let bought = try garden.buy("garden.premium.monthly")
        let proof = Array(try store.signedTransaction(bought.identifier).utf8)
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        try garden.advance(to: "2026-12-01T12:00:00Z")
        for notification in try store.notifications().reversed() {
            #expect(try await service.receive(notification: Array(notification.signedPayload.utf8)) == .parked)
        }
        _ = try await service.redeem(proof, for: alice)
        #expect(try await items(ledger, at: "2026-12-16T11:59:59Z") == [Self.premium])
        #expect(try await items(ledger, at: "2026-12-16T12:00:00Z") == [])
    }

    /// A receipt has no account token. The App Store's statement about the transaction determines the owner.
    @Test func `a receipt cannot redeem a purchase with another user's account token`() async throws {
        let (service, _) = try await service("ledger")
        let bob = try #require(User(name: "bob"))
        let bobs = UUID()
        try garden.buy("garden.gate", appAccountToken: bobs)
        let told = try #require(try store.notifications().first)
        #expect(try await service.receive(notification: Array(told.signedPayload.utf8)) == .parked)
        #expect(try await service.setAppAccountToken(bobs, of: bob) == .set)
        let receipt = Array(try store.receipt(account: "alice").utf8)
        await #expect(throws: RedemptionError.purchaseRefused(.appAccountTokenMismatch)) {
            try await service.redeem(receipt, for: alice)
        }
        #expect(try await service.redeem(receipt, for: bob).outcome == .granted)
    }

    /// A product that has left the catalog keeps its end.
    @Test func `a statement about an unknown product keeps the known end`() async throws {
        let (service, ledger) = try await service("ledger")
        let bought = try garden.buy("garden.premium.monthly")
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        try store.setAutoRenew(false, of: try #require(bought.purchase).transactionIdentifier)
        try garden.advance(to: "2026-12-05T12:00:00Z")
        let later = EntitlementService(
            apps: Apps(App(try garden.catalogWithout("garden.premium.monthly"))),
            verifier: try garden.verifier(),
            ledger: ledger, clock: store.clock)
        for notification in try store.notifications() {
            _ = try await later.receive(notification: Array(notification.signedPayload.utf8))
        }
        #expect(try await items(ledger, at: "2026-11-29T00:00:00Z") == [Self.premium])
        #expect(try await items(ledger, at: "2026-12-06T00:00:00Z") == [])
    }

    private func playAYear() throws {
        let first = try #require(
            try garden.buy("garden.basic.monthly", appAccountToken: token).purchase
        ).transactionIdentifier
        try garden.buy("garden.seeds", quantity: 2, appAccountToken: token)
        let refunded = try #require(
            try garden.buy("garden.seeds", appAccountToken: token).purchase
        ).transactionIdentifier
        try garden.advance(to: "2027-01-01T12:00:00Z")
        try store.refund(refunded)
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        try garden.advance(to: "2027-01-20T12:00:00Z")
        _ = try store.update { $0.shouldEnterBillingRetryOnRenewal = false }
        try store.resolveBillingIssue(of: first)
        try garden.advance(to: "2027-02-18T12:00:00Z")
        try garden.buy("garden.premium.monthly", appAccountToken: token)
        try garden.advance(to: "2027-05-20T12:00:00Z")
        let latest = try #require(try store.history(of: "alice").last).transactionIdentifier
        try store.refund(latest)
        try garden.advance(to: "2027-05-21T12:00:00Z")
        try store.reverseRefund(of: latest)
        try garden.advance(to: "2027-07-01T12:00:00Z")
        try garden.buy("garden.basic.monthly", appAccountToken: token)
        try store.setAutoRenew(false, of: first)
        try garden.advance(to: "2027-09-01T12:00:00Z")
    }

    /// The moments of the year, one per day.
    private static func moments() throws -> [Timestamp] {
        let start = try #require(Timestamp(rfc3339: "2026-10-31T13:00:00Z"))
        return (0..<320).map { start.adding(days: $0) }
    }

    @Test func `the items of a year follow the payments`() async throws {
        try playAYear()
        let (service, ledger) = try await service("ledger")
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        for (date, expected) in [
            ("2026-11-05T00:00:00Z", [Self.basic]), ("2026-12-20T00:00:00Z", [Self.basic]),
            // In the grace period, before its end.
            ("2027-01-15T00:00:00Z", [Self.basic]), ("2027-01-25T00:00:00Z", [Self.basic]),
            // The upgrade replaces the period that was paid until 7 March.
            ("2027-02-20T00:00:00Z", [Self.premium]), ("2027-05-22T00:00:00Z", [Self.premium]),
            ("2027-06-25T00:00:00Z", []),
            ("2027-07-15T00:00:00Z", [Self.basic]), ("2027-08-02T00:00:00Z", []),
        ] as [(String, [Item])] {
            let met = try await items(ledger, at: date)
            #expect(met == expected, "\(date)")
        }
    }

    /// The customer owns the item until the end of the grace period, and not a moment longer.
    @Test func `a grace period ends on its date`() async throws {
        let (service, ledger) = try await service("ledger")
        try garden.buy("garden.premium.monthly", appAccountToken: token)
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
        try garden.advance(to: "2026-12-01T12:00:00Z")
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        #expect(try await items(ledger, at: "2026-12-16T11:59:59Z") == [Self.premium])
        #expect(try await items(ledger, at: "2026-12-16T12:00:00Z") == [])
    }

    @Test func `balances are spent and never become negative`() async throws {
        let (service, _) = try await service("ledger")
        let bought = try garden.buy("garden.seeds", quantity: 3)
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        #expect(try await service.balances(of: alice) == [Credit(balance: "seeds", amount: 30)])
        func spend(_ amount: Int) async throws -> Int? {
            let spending = service.newSpending(of: amount, from: "seeds", reason: "sown", by: "key")
            return try await service.spend(spending, for: alice).left
        }
        #expect(try await spend(20) == 10)
        await #expect(throws: BalanceError.balanceTooLow(name: "seeds", amount: 10)) { try await spend(11) }
        #expect(try await spend(10) == 0)
        await #expect(throws: BalanceError.balanceUnknown("gold")) {
            try await service.spend(service.newSpending(of: 1, from: "gold", reason: "none", by: "key"), for: alice)
        }
        // A refund after a spending leaves a debt. The next purchase pays it first.
        let identifier = try #require(bought.purchase).transactionIdentifier
        try store.refund(identifier)
        for notification in try store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        #expect(try await service.balances(of: alice) == [Credit(balance: "seeds", amount: 0)])
        let more = try garden.buy("garden.seeds", quantity: 4)
        _ = try await service.redeem(Array(try store.signedTransaction(more.identifier).utf8), for: alice)
        #expect(try await service.balances(of: alice) == [Credit(balance: "seeds", amount: 10)])
    }

    @Test func `a balance that the catalog has left is spent as before, each request once`() async throws {
        let (service, ledger) = try await service("ledger")
        let bought = try garden.buy("garden.seeds")
        _ = try await service.redeem(Array(try store.signedTransaction(bought.identifier).utf8), for: alice)
        // The seed's products have no balance.
        let later = EntitlementService(
            apps: Apps(App(try Catalog(folder: Project.products))), verifier: try garden.verifier(),
            ledger: ledger, clock: store.clock)
        func spend(_ amount: Int, from balance: String = "seeds", key: String) async throws -> SpentBalance {
            let request = Spending.Request(
                idempotencyKey: key, digest: DigestAlgorithm.sha256.digest(of: Array(key.utf8)))
            return try await later.spend(
                later.newSpending(of: amount, from: balance, reason: "sown", by: "key", for: request), for: alice)
        }
        #expect(try await spend(4, key: "one").left == 6)
        #expect(try await spend(6, key: "two").left == 0)
        #expect(try await spend(4, key: "one").isRepeated)
        await #expect(throws: BalanceError.balanceTooLow(name: "seeds", amount: 0)) { try await spend(1, key: "three") }
        await #expect(throws: BalanceError.balanceUnknown("gold")) { try await spend(1, from: "gold", key: "four") }
    }
}

/// A generator with the same sequence in every run.
private struct SeededGenerator: RandomNumberGenerator {
    private let randomness: Randomness

    init(seed: UInt64) {
        randomness = .seeded(seed)
    }

    mutating func next() -> UInt64 {
        randomness.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
