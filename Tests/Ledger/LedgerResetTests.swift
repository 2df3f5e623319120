import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The reset of a ledger between two tests of a suite.
@Suite struct LedgerResetTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// A new table of the list configures the service, or is of one of the other families.
    @Test func `a reset keeps the configuration, and the numbers to which other rows refer`() {
        let kept = [LedgerFeature].all.tables.filter(\.staysAtReset).map(\.name)
        #expect(
            kept.sorted() == [
                "api_key", "app", "catalog_change", "catalog_picture", "chain", "figure_upkeep", "google_chain",
                "kept_configuration", "ledger_reset", "ledger_secret", "product", "team_change", "team_invitation",
                "team_member",
                "team_session", "webhook_change", "webhook_endpoint",
            ])
    }

    @Test func `no row that stays belongs to a user, or refers to a row that goes`() {
        let staying = [LedgerFeature].all.tables.filter(\.staysAtReset)
        let names = Set(staying.map(\.name))
        for table in staying {
            #expect(table.family != .userData, "\(table.name)")
            #expect(table.references.allSatisfy { names.contains($0.table) }, "\(table.name)")
        }
    }

    private func reset() async throws -> LedgerReset { try await ledger.write { try $0.reset(at: Self.now) } }

    private func number(of user: User) async throws -> Int64? { try await ledger.read { try $0.users.known(user) } }

    @Test func `nothing is left of users and purchases, and the same purchase can be redeemed again`() async throws {
        let key = APIKeyRecord(identifier: "a", name: "suite", scopes: ["read"], key: "k", createdAt: Self.now)
        try await ledger.write { try $0.add(key) }
        let coins = Credit(balance: "coins", amount: 10)
        _ = try await redeem(claim("1"), claim("2", item: nil, credit: coins), for: alice)
        _ = try await redeem(claim("3"), for: bob)
        _ = try await notify("n", claim("1", revoked: Self.now, signedAt: Self.later(1)))
        #expect(try await reset() == LedgerReset(users: 2))
        for user in [alice, bob] {
            #expect(try await number(of: user) == nil)
            #expect(try await story(of: user).isEmpty)
        }
        #expect(try await ledger.read { try $0.apiKeys() }.map(\.identifier) == ["a"])
        #expect(try fixture.problems() == [])
        #expect(try await redeem(claim("1"), for: bob) == [.granted])
        #expect(try await notify("n", nil) != .duplicate)
        #expect(try fixture.problems() == [])
        #expect(try await reset() == LedgerReset(users: 1))
        #expect(try await reset() == LedgerReset(users: 0))
    }

    @Test func `a reset of a ledger that never had a user keeps no number of one, and counts the resets`() async throws
    {
        func resets() async throws -> [[Int64?]] {
            try await ledger.read {
                try $0.database.rows("SELECT number, last_user FROM ledger_reset ORDER BY number") {
                    [try $0.next(), try $0.next()]
                }
            }
        }
        #expect(try await reset() == LedgerReset(users: 0))
        #expect(try await resets() == [[1, nil]])
        _ = try await redeem(claim("1"), for: alice)
        let former = try #require(try await number(of: alice))
        #expect(try await reset() == LedgerReset(users: 1))
        #expect(try await reset() == LedgerReset(users: 0))
        #expect(try await resets() == [[1, nil], [2, former], [3, former]])
    }

    /// Other processes remember users by their numbers, and sessions have them.
    @Test func `no user after a reset has the number of a former one`() async throws {
        var former: Set<Int64> = []
        for round in 0..<3 {
            for (transaction, user) in [("1", alice), ("2", bob)] as [(String, User)] {
                _ = try await redeem(claim(transaction), for: user)
                let number = try #require(try await number(of: user))
                #expect(former.insert(number).inserted, "round \(round)")
            }
            _ = try await reset()
        }
    }

    @Test func `another process gives no answer of before the reset`() async throws {
        let other = try fixture.again()
        let alice = alice
        func count() async throws -> Int { try await other.read { try $0.items(of: alice, at: Self.now).count } }
        _ = try await redeem(claim("1"), for: alice)
        #expect(try await count() == 1)
        _ = try await reset()
        #expect(try await count() == 0)
        _ = try await redeem(claim("3", item: nil), for: alice)
        #expect(try await count() == 0)
    }

    @Test(arguments: [Origin.appleProduction, .appleSandbox, .googleProduction, .googleTest])
    func `a ledger with a purchase of a store that has customers stays as it is`(origin: Origin) async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await redeem(claim("2", origin: origin), for: bob)
        await #expect(throws: LedgerResetError.hasCustomers) { try await reset() }
        #expect(try await number(of: alice) != nil)
        #expect(try await story(of: bob).count == 1)
    }

    @Test(arguments: [false, true])
    func `only a ledger whose service allows it is reset`(isAllowed: Bool) async throws {
        _ = try await redeem(claim("1"), for: alice)
        await #expect(throws: LedgerResetError.notAllowed) { try await ledger.reset(at: Self.now) }
        try await start([.xcode], allowsReset: isAllowed)
        if isAllowed {
            #expect(try await ledger.reset(at: Self.now) == LedgerReset(users: 1))
        } else {
            await #expect(throws: LedgerResetError.notAllowed) { try await ledger.reset(at: Self.now) }
        }
        #expect(try await (number(of: alice) == nil) == isAllowed)
    }

    /// Keeps the configuration of a service, as its start does.
    private func start(_ origins: Set<Origin>, allowsReset: Bool = false) async throws {
        let configuration = KeptConfiguration(
            apps: [], accepted: AcceptedOrigins(origins), sendsWebhooks: false, allowsReset: allowsReset,
            isOfService: true)
        try await ledger.write { try $0.keep(configuration) }
    }

    /// Expects that neither a reset nor a service that allows resets gets the ledger.
    private func expectRefusals(_ note: Comment, from location: SourceLocation = #_sourceLocation) async {
        await #expect(throws: LedgerResetError.hasCustomers, note, sourceLocation: location) {
            try await start([.xcode], allowsReset: true)
        }
        await #expect(throws: LedgerResetError.hasCustomers, note, sourceLocation: location) {
            try await ledger.reset(at: Self.now)
        }
    }

    @Test(arguments: [Origin.appleProduction, .appleSandbox, .googleProduction, .googleTest])
    func `a ledger of a service with customers is never reset, whichever service has it later`(origin: Origin)
        async throws
    {
        _ = try await redeem(claim("1"), for: alice)
        try await start([origin])
        await expectRefusals("before any sale")
        #expect(try await ledger.read { try $0.keptConfiguration() }?.accepted.origins == [origin])
        try await start([.xcode])
        await expectRefusals("under another service")
        #expect(try await number(of: alice) != nil)
    }

    @Test func `a service with customers takes the permission of an earlier service away`() async throws {
        try await start([.xcode], allowsReset: true)
        _ = try await redeem(claim("1"), for: alice)
        #expect(try await ledger.reset(at: Self.now) == LedgerReset(users: 1))
        _ = try await redeem(claim("1"), for: alice)
        try await start([.appleProduction])
        await #expect(throws: LedgerResetError.hasCustomers) { try await ledger.reset(at: Self.now) }
        await expectRefusals("after it")
        #expect(try await number(of: alice) != nil)
    }

    @Test(arguments: [
        (#"{"origins": ["google/Production"]}"#, false), (#"{"origins": ["nothing"]}"#, false), ("{}", false),
        (#"{"origins": ["local/Production", "xcode"]}"#, true),
    ])
    func `the configuration of an earlier version decides by its origins`(content: String, isOfSuite: Bool)
        async throws
    {
        try await ledger.write {
            try $0.database.insert(into: "kept_configuration", ["subject", "content"], [["service", content]])
        }
        guard isOfSuite else { return await expectRefusals("\(content)") }
        await #expect(throws: LedgerResetError.notAllowed) { try await ledger.reset(at: Self.now) }
        try await start([.xcode], allowsReset: true)
        #expect(try await ledger.reset(at: Self.now) == LedgerReset(users: 0))
    }

    /// A configuration without one of its users would accept other purchases than the service does.
    @Test(arguments: [("tester", true), ("a b", false), ("", false)])
    func `a kept configuration is read whole or not at all`(name: String, isRead: Bool) async throws {
        let tester = try #require(User(name: "tester"))
        try await ledger.write {
            try $0.keep(
                KeptConfiguration(
                    apps: [], accepted: AcceptedOrigins([.appleProduction], sandboxUsers: [tester]),
                    sendsWebhooks: false, allowsReset: false, isOfService: true))
        }
        _ = try await ledger.write {
            try $0.database.execute(
                "UPDATE kept_configuration SET content = replace(content, $1, $2) WHERE subject = 'service'",
                [#""name":"tester""#, "\"name\":\"\(name)\""])
        }
        let kept = try await ledger.read { try $0.keptConfiguration() }
        #expect(kept?.accepted.sandboxUsers == (isRead ? [tester] : nil))
        // It is still that of a service with customers.
        await expectRefusals("\(name)")
    }

    @Test(arguments: [(.google, false), (.localPlay, true)] as [(Realm, Bool)])
    func `sales that Google is to know are not deleted`(realm: Realm, isReset: Bool) async throws {
        try await start([.xcode], allowsReset: true)
        try await ledger.write {
            try $0.database.insert(
                into: "external_transaction",
                [
                    "transaction_id", "refund_id", "package", "realm", "app", "content", "reported_at", "due_at",
                    "reported_by", "attempts",
                ],
                [
                    [
                        "sale", "", "com.example.app", realm.rawValue, 1 as Int64, "{}", Self.now, Self.now, "K",
                        0 as Int64,
                    ]
                ])
        }
        if isReset {
            #expect(try await ledger.reset(at: Self.now) == LedgerReset(users: 0))
        } else {
            await #expect(throws: LedgerResetError.hasCustomers) { try await ledger.reset(at: Self.now) }
        }
    }

    @Test(arguments: [(.appleSandbox, false), (.localSandbox, true)] as [(Origin, Bool)])
    func `tokens that Apple is to know are not deleted`(origin: Origin, isReset: Bool) async throws {
        try await start([.xcode], allowsReset: true)
        try await ledger.write {
            try $0.database.insert(
                into: "external_purchase",
                [
                    "external_purchase_id", "app", "origin", "created_at", "learned_at", "is_announced", "state",
                ],
                [["token", 1 as Int64, origin, Self.now, Self.now, 1 as Int64, "unreported"]])
        }
        if isReset {
            #expect(try await ledger.reset(at: Self.now) == LedgerReset(users: 0))
        } else {
            await #expect(throws: LedgerResetError.hasCustomers) { try await ledger.reset(at: Self.now) }
        }
    }

    /// ```
    /// // start with customers          reset
    /// //                               no service with customers
    /// // keeps the configuration
    /// // sells
    /// //                               deletes what it finds: conflicts, runs again and refuses
    /// ```
    @Test func `a service with customers that starts during resets loses nothing that it sells`() async throws {
        let (other, bob) = (try fixture.again(), bob)
        let production = KeptConfiguration(
            apps: [], accepted: AcceptedOrigins([.appleProduction]), sendsWebhooks: false, allowsReset: false,
            isOfService: true)
        try await start([.xcode], allowsReset: true)
        let sale = claim("1")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do { _ = try await ledger.reset(at: Self.now) } catch LedgerResetError.hasCustomers {}
                }
            }
            group.addTask {
                try await other.write { try $0.keep(production) }
                _ = try await other.write { try $0.redeem([sale], for: bob, at: Self.now) }
            }
            try await group.waitForAll()
        }
        #expect(try await number(of: bob) != nil)
        await expectRefusals("after the start")
        #expect(try fixture.problems() == [])
    }

    /// ```
    /// // redeem (another process)      reset
    /// // knows alice
    /// //                               deletes alice, commits
    /// // adds a purchase of alice: waits or conflicts, and runs again with a new number
    /// ```
    @Test func `redemptions of another process during a reset leave a sound ledger`() async throws {
        let (other, alice, bob) = (try fixture.again(), alice, bob)
        let claims = (0..<24).map { claim("\($0)", item: Item(collection: "s", number: $0)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, claim) in claims.enumerated() {
                let user = number.isMultiple(of: 2) ? alice : bob
                group.addTask { _ = try await other.write { try $0.redeem([claim], for: user, at: Self.now) } }
            }
            for _ in 0..<3 { group.addTask { _ = try await reset() } }
            try await group.waitForAll()
        }
        #expect(try fixture.problems() == [])
    }
}
