import AppStore
import Catalog
import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Moves of a subscription in a ledger: each statement comes in a commit of its own.
@Suite struct MovedSubscriptionTests {
    private static let app = "com.example.app"
    private static let now = Timestamp(secondsSince1970: 1_790_000_000)

    /// A month of a part. Part 0 is sold alone, and each other part states the one before it.
    private static func claim(_ part: Int, _ index: Int) -> Claim {
        let bought = now.adding(days: Int64(part * 2 + index) * 30)
        var facts = TransactionFacts()
        facts[.type] = .text(ProductType.autoRenewableSubscription.rawValue)
        facts[.signedDate] = .integer(bought.millisecondsSince1970)
        if part > 0 { facts[.previousOriginalTransactionId] = .text("\(part - 1).0") }
        return Claim(
            app: app, origin: .localSandbox, transactionIdentifier: "\(part).\(index)",
            originalTransactionIdentifier: "\(part).0", chainTransactionIdentifier: part > 0 ? "\(part - 1).0" : nil,
            productIdentifier: "p\(part)", quantity: 1, purchaseDate: bought, revocationDate: nil, signedAt: bought,
            proofDigest: [UInt8](repeating: 7, count: 32), item: Item(collection: "sprout", number: part),
            expiresAt: bought.adding(days: 30), facts: facts)
    }

    private static let claims = [claim(0, 0), claim(0, 1), claim(1, 0), claim(1, 1), claim(2, 0)]
    private static let end = now.adding(days: 130)

    @Test(arguments: 0..<20)
    func `any order of commits leads to one subscription since its first purchase`(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("ledger.sqlite")
        let alice = try #require(User(name: "alice"))
        let dice = Dice(seed: seed)
        let presented = dice.number(below: Self.claims.count)
        let ledger = Ledger(storage: try SQLiteStorage(file: file), randomness: .system)
        for index in dice.shuffle([Int](0...Self.claims.count)) {
            _ = try await ledger.write { transaction in
                if index == Self.claims.count {
                    _ = try transaction.redeem([Self.claims[presented]], for: alice, at: Self.end)
                } else {
                    _ = try transaction.record(Self.claims[index], at: Self.end)
                }
            }
        }
        let view = Viewpoint(accepting: AcceptedOrigins(.ofEveryStore), at: Self.end) { _ in nil }
        let (bought, subscriptions, events) = try await ledger.read {
            (
                try $0.transactions(of: alice, before: nil, limit: 10),
                try $0.subscriptions(of: alice, from: view), try $0.audit(of: alice).map(\.entry)
            )
        }
        #expect(Set(bought.map(\.transactionIdentifier)) == Set(Self.claims.map(\.key.identifier)))
        #expect(subscriptions.map(\.originalTransactionIdentifier) == ["2.0"])
        #expect(subscriptions.map(\.since) == [Self.now])
        #expect(events.filter { $0.event == .migrated }.compactMap(\.reason).sorted() == ["0.0", "1.0"])
        #expect(try LedgerFile(file).check().problems == [])
    }

    @Test func `whoever may take the new part has the former ones, too`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("ledger.sqlite")
        let ledger = Ledger(storage: try SQLiteStorage(file: file), randomness: .system)
        let (alice, bob) = (try #require(User(name: "alice")), try #require(User(name: "bob")))
        let owned = try await ledger.write { transaction in
            _ = try transaction.redeem([Self.claims[0]], for: alice, at: Self.end)
            let answer = try transaction.redeem(
                [Self.claims[2]], for: bob, under: .transfer(pauseSeconds: 0), at: Self.end)
            #expect(answer.results == [.granted])
            return try [alice, bob].map { try transaction.transactions(of: $0, before: nil, limit: 9).count }
        }
        #expect(owned == [0, 2])
        #expect(try LedgerFile(file).check().problems == [])
    }

    /// The new part was never transferred, but it has taken the former one along.
    @Test func `the pause after a transfer holds for each part`() async throws {
        let folder = try TemporaryFolder()
        let ledger = Ledger(storage: try SQLiteStorage(file: folder.file("ledger.sqlite")), randomness: .system)
        let (alice, bob) = (try #require(User(name: "alice")), try #require(User(name: "bob")))
        let policy = OwnershipPolicy.transfer(pauseSeconds: 60)
        try await ledger.write { transaction in
            _ = try transaction.redeem([Self.claims[0]], for: alice, at: Self.end.adding(seconds: -120))
            func results(_ claim: Claim, for user: User, after seconds: Int64) throws -> [Redemption.Result] {
                try transaction.redeem([claim], for: user, under: policy, at: Self.end.adding(seconds: seconds)).results
            }
            #expect(try results(Self.claims[2], for: bob, after: 0) == [.granted])
            for part in [0, 2] {
                #expect(try results(Self.claims[part], for: alice, after: 59) == [.transferTooSoon])
            }
            #expect(try results(Self.claims[2], for: alice, after: 60) == [.granted])
        }
    }

    @Test func `a transfer takes all parts along`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("ledger.sqlite")
        let ledger = Ledger(storage: try SQLiteStorage(file: file), randomness: .system)
        let (alice, bob) = (try #require(User(name: "alice")), try #require(User(name: "bob")))
        let owners = try await ledger.write { transaction in
            for claim in [Self.claims[0], Self.claims[2], Self.claims[4]] {
                _ = try transaction.redeem([claim], for: alice, at: Self.end)
            }
            let answer = try transaction.redeem(
                [Self.claims[2]], for: bob, under: .transfer(pauseSeconds: 0), at: Self.end)
            #expect(answer.results == [.granted])
            return try ["0.0", "1.0", "2.0"].flatMap { original in
                try transaction.purchases(ofTransaction: original, at: Self.end) { _ in nil }.map(\.owner)
            }
        }
        #expect(owners == [bob, bob, bob])
        #expect(try LedgerFile(file).check().problems == [])
    }

    @Test func `a purchase that comes after a log-in belongs to the customer of its subscription`() async throws {
        let folder = try TemporaryFolder()
        let ledger = Ledger(storage: try SQLiteStorage(file: folder.file("ledger.sqlite")), randomness: .system)
        let anonymous = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "0", count: 32))).user
        let alice = try #require(User(name: "alice"))
        let owners = try await ledger.write { transaction in
            _ = try transaction.redeem([Self.claims[2]], for: anonymous, at: Self.end)
            _ = try transaction.logIn(anonymous, as: alice, by: .user, at: Self.end)
            let outcome = try transaction.record(Self.claims[0], at: Self.end)
            #expect(outcome == .granted)
            return try ["0.0", "1.0"].flatMap { original in
                try transaction.purchases(ofTransaction: original, at: Self.end) { _ in nil }.map(\.owner)
            }
        }
        #expect(owners == [alice, alice])
    }

    /// A customer of the local App Store, without an account token, who moves into a bundle and out of it again.
    @Test(arguments: 0..<6)
    func `the notifications of moves at the store lead to one subscription, in any order`(seed: UInt64) async throws {
        let garden = try TestGarden(isInMemory: true)
        let store = garden.store
        let service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: store.clock)
        let alice = try #require(User(name: "alice"))
        let first = try #require(try garden.buy("garden.basic.monthly").purchase).transactionIdentifier
        let start = store.now
        for date in ["2026-12-10T12:00:00Z", "2027-01-20T12:00:00Z"] {
            try garden.advance(to: date)
            let latest = try #require(try store.history(of: "alice").last)
            try store.perform(.moveSubscription, on: latest.transactionIdentifier)
        }
        try garden.advance(to: "2027-03-01T12:00:00Z")
        let sold = try store.history(of: "alice")
        let dice = Dice(seed: seed)
        let presented = seed == 0 ? first : sold[dice.number(below: sold.count)].transactionIdentifier
        let proof = Array(try store.signedTransaction(of: presented).utf8)
        let notifications = try store.notifications().map { Array($0.signedPayload.utf8) }
        for place in dice.shuffle([Int](0...notifications.count)) {
            if place == notifications.count {
                _ = try await service.redeem(proof, for: alice)
            } else {
                _ = try await service.receive(notification: notifications[place])
            }
        }
        let bought = try await service.transactions(of: alice, before: nil, limit: 20)
        #expect(
            Set(bought.map(\.transactionIdentifier)) == Set(sold.map(\.transactionIdentifier)))
        let subscriptions = try await service.subscriptions(of: alice)
        #expect(
            subscriptions.map(\.originalTransactionIdentifier) == [sold.last?.originalTransactionIdentifier])
        #expect(subscriptions.map(\.since) == [start] && subscriptions.map(\.state) == [.active])
        let amounts = UserFigures.sums(of: bought).amounts
        func total(_ metric: FigureMetric) -> Int64 {
            amounts.filter { $0.key.metric == metric }.reduce(0) { $0 + $1.value }
        }
        #expect(
            [.newCustomers, .trialsNew, .subscriptionsNew, .subscriptionsResubscribed, .subscriptionsRefunded].map(
                total)
                == [1, 1, 1, 0, 0])
    }
}
