import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Anonymous customers who log in, in either database.
@Suite struct LogInLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let ghost: User
    private let mint: User

    /// The tables whose rows of a merged user stay, or that a rule of their own moves.
    private static let others: Set<String> = [
        // The tombstone and its history.
        "user", "user_merge", "user_alias", "account_token_alias", "audit", "user_change", "webhook_delivery",
        "webhook_attempt", "figure_contribution",
        "figure_pending", "customer_activity", "customer_spending",
        // The purchases and the numbered records.
        "redeemed_transaction", "credit", "team_grant", "spending", "balance_addition",
        "attribute", "app_attribute",
        // A stranger's refusals would use up the limit of the known customer.
        "refusal",
        // Only users with a token have these.
        "account", "session", "account_link", "address_change", "mail", "member",
    ]

    init() throws {
        fixture = try LedgerFixture()
        ghost = try Self.anonymous(1)
        mint = try #require(CustomerIdentifier("Mint Sprout")).user
    }

    private static func anonymous(_ number: Int) throws -> User {
        let digits = String(repeating: "0", count: 31) + String(number)
        return try #require(CustomerIdentifier("$RCAnonymousID:" + digits)).user
    }

    private func logIn(_ current: User, as new: User, on ledger: Ledger? = nil) async throws -> LogIn {
        try await (ledger ?? self.ledger).write { try $0.logIn(current, as: new, by: .user, at: Self.later(9)) }
    }

    private func transactions(of user: User) async throws -> [String] {
        try await ledger.read { try $0.transactions(of: user, before: nil, limit: 99) }.map(\.transactionIdentifier)
    }

    private func number(of user: User) async throws -> Int64? {
        try await ledger.read { try $0.users.known(user) }
    }

    @Test func `an anonymous id that was never used becomes an alias`() async throws {
        let first = try await logIn(ghost, as: mint)
        #expect(first.isNew && first.effect == .aliased)
        let again = try await logIn(ghost, as: mint)
        #expect(!again.isNew && again.effect == .unchanged)
        #expect(try await redeem(claim("1"), for: ghost) == [.granted])
        #expect(try await redeem(claim("2"), for: mint) == [.granted])
        #expect(try await transactions(of: mint) == ["2", "1"])
        #expect(try await ledger.read { try $0.items(of: ghost, at: Self.now) } == [Self.sprout1])
        #expect(try await ledger.read { try $0.aliases(of: mint) } == [ghost])
        #expect(try await story(of: mint).first == "user aliased  id \(ghost.name)")
        #expect(try fixture.problems() == [])
    }

    @Test func `an anonymous customer gets the name of a new customer, and keeps everything`() async throws {
        #expect(try await redeem(claim("1"), for: ghost) == [.granted])
        let token = try await ledger.write { try $0.makeAppAccountToken(of: ghost, at: Self.now) }
        let (before, result) = (try await number(of: ghost), try await logIn(ghost, as: mint))
        #expect(result.isNew && result.effect == .aliased)
        #expect(try await number(of: mint) == before)
        #expect(try await number(of: ghost) == before)
        #expect(try await ledger.read { try $0.appAccountToken(of: mint) } == token)
        #expect(try await transactions(of: mint) == ["1"])
        #expect(try await logIn(ghost, as: mint).effect == .unchanged)
        #expect(try await ledger.read { try $0.aliases(of: ghost) } == [ghost])
        #expect(try fixture.problems() == [])
    }

    /// Gives a customer one of everything.
    private func fill(_ user: User, from first: Int, name: String) async throws {
        let coins = Credit(balance: "coins", amount: 10)
        let (one, two) = (claim("\(first)"), claim("\(first + 1)", item: nil, credit: coins))
        #expect(try await redeem(one, two, for: user) == [.granted, .granted])
        let request = Spending.Request(idempotencyKey: "k", digest: [UInt8](repeating: 1, count: 32))
        let spending = Spending(
            identifier: "s\(name)", balance: "coins", amount: 3, reason: "a hat", spentBy: "K", spentAt: Self.now,
            request: request)
        _ = try await ledger.write { try $0.spend(spending, for: user, accepting: Set(Origin.allCases)) }
        let grant = Grant(
            sequence: 0, identifier: "g\(name)", item: Item(collection: "gate", number: first), reason: "a gift",
            grantedBy: "K", grantedAt: Self.now, endsAt: nil)
        _ = try await ledger.write {
            try $0.add(grant, for: user)
        }
        let attribute = try Attribute(name: "level", value: name, statedAt: Self.later(Int64(first) - 90))
        try await ledger.write { try $0.state([attribute], of: user, at: Self.now) }
        try await ledger.write { try $0.addWish(for: name, of: user, at: Self.now) }
    }

    @Test func `two customers become one, with everything of both`() async throws {
        try await fill(mint, from: 1, name: "mint")
        try await fill(ghost, from: 11, name: "ghost")
        let token = try await ledger.write { try $0.makeAppAccountToken(of: ghost, at: Self.now) }
        let former = try #require(try await number(of: ghost))
        let result = try await logIn(ghost, as: mint)
        #expect(!result.isNew && result.effect == .merged)
        #expect(try await logIn(ghost, as: mint).effect == .unchanged)
        for user in [mint, ghost] {
            #expect(try await Set(transactions(of: user)) == ["1", "2", "11", "12"])
            #expect(
                try await ledger.read { try $0.items(of: user, at: Self.now) } == [
                    Item(collection: "gate", number: 1), Item(collection: "gate", number: 11), Self.sprout1,
                ])
            let balances = try await ledger.read {
                try $0.balances(of: user, accepting: Set(Origin.allCases))
            }
            #expect(balances == [Credit(balance: "coins", amount: 14)])
            #expect(try await ledger.read { try $0.grants(of: user, before: nil, limit: 9) }.count == 2)
            #expect(try await ledger.read { try $0.attributes(of: user) }.map(\.value) == ["ghost"])
        }
        // A purchase with the anonymous customer's token is the known customer's.
        #expect(try await notify("1", claim("13", appAccountToken: token)) == .granted)
        #expect(try await transactions(of: mint).contains("13"))
        let told = try await story(of: mint).suffix(4)
        #expect(told.prefix(2) == ["user transferredIn 11 p \(ghost.name)", "user transferredIn 12 p \(ghost.name)"])
        let merge = try #require(told.dropFirst(2).first)
        #expect(merge.hasPrefix("user aliased ") && merge.hasSuffix(" customer \(ghost.name)"), "\(merge)")
        #expect(told.last == "App Store granted 13 p")
        try await expectNoRows(of: former)
        #expect(try fixture.problems() == [])
    }

    /// Checks that a merged user has rows only in the tables of its tombstone.
    private func expectNoRows(of former: Int64) async throws {
        let kept: Set<String> = [
            "user", "audit", "user_change", "figure_contribution", "figure_pending",
        ]
        for table in [LedgerFeature].all.tables where table.family == .userData && !kept.contains(table.name) {
            let isLeft = try await ledger.read {
                try $0.database.hasRow("SELECT user_id FROM \"\(table.name)\" WHERE user_id = $1", [former])
            }
            #expect(!isLeft, "\(table.name)")
        }
    }

    @Test(arguments: [LedgerFeature].all.tables.filter { $0.family == .userData }.map(\.name))
    func `each table of user data says what a merge does to its rows`(name: String) throws {
        let table = try #require([LedgerFeature].all.tables.first { $0.name == name })
        #expect((table.merge == .move) != Self.others.contains(name))
    }

    @Test func `an anonymous customer with aliases of its own is merged with them`() async throws {
        let older = try Self.anonymous(2)
        #expect(try await redeem(claim("1"), for: older) == [.granted])
        let token = try await ledger.write { try $0.makeAppAccountToken(of: older, at: Self.now) }
        #expect(try await redeem(claim("2"), for: ghost) == [.granted])
        #expect(try await redeem(claim("3"), for: mint) == [.granted])
        #expect(try await logIn(older, as: ghost).effect == .merged)
        #expect(try await logIn(ghost, as: mint).effect == .merged)
        for user in [older, ghost, mint] { #expect(try await Set(transactions(of: user)) == ["1", "2", "3"]) }
        #expect(try await Set(ledger.read { try $0.aliases(of: mint) }) == [older, ghost])
        #expect(try await notify("1", claim("4", appAccountToken: token)) == .granted)
        #expect(try await transactions(of: mint).contains("4"))
        #expect(try fixture.problems() == [])
    }

    @Test func `an erasure deletes the answers kept about merged customers`() async throws {
        let (older, key) = (try Self.anonymous(2), IdempotencyKey(caller: "a", key: "k"))
        for (number, user) in [older, ghost, mint].enumerated() {
            #expect(try await redeem(claim("\(number)"), for: user) == [.granted])
        }
        let answer = key.answer([1], to: [UInt8](repeating: 1, count: 32))
        _ = try await ledger.write { try $0.keep(answer, about: older, at: Self.now, deletingBefore: Self.later(-9)) }
        #expect(try await logIn(older, as: ghost).effect == .merged)
        #expect(try await logIn(ghost, as: mint).effect == .merged)
        #expect(try await ledger.read { try $0.answers.answer(for: key, since: Self.now) } == answer)
        #expect(try await ledger.write { try $0.erase(mint, by: .user, at: Self.now) })
        #expect(try await ledger.read { try $0.answers.answer(for: key, since: Self.now) } == nil)
    }

    @Test func `two known customers stay apart`() async throws {
        #expect(try await redeem(claim("1"), for: mint) == [.granted])
        let rose = try #require(CustomerIdentifier("rose")).user
        let result = try await logIn(mint, as: rose)
        #expect(result.isNew && result.effect == .unchanged)
        #expect(try await transactions(of: rose) == [])
        // An anonymous id that belongs to one known customer does not become another's.
        _ = try await logIn(ghost, as: mint)
        #expect(try await logIn(ghost, as: rose).effect == .unchanged)
        #expect(try await transactions(of: ghost) == ["1"])
        #expect(try await redeem(claim("1"), for: rose) == [.ownedByAnotherUser])
        #expect(try fixture.problems() == [])
    }

    @Test func `erasure deletes the aliases, and the reasons of merged customers`() async throws {
        try await fill(ghost, from: 1, name: "ghost")
        #expect(try await redeem(claim("9"), for: mint) == [.granted])
        _ = try await logIn(ghost, as: mint)
        // The alias names the customer.
        #expect(try await ledger.write { try $0.erase(ghost, by: .user, at: Self.later(10)) })
        for user in [ghost, mint] {
            #expect(try await number(of: user) == nil)
            #expect(try await transactions(of: user) == [])
        }
        let hasReason = try await ledger.read {
            try $0.database.hasRow("SELECT reason FROM audit WHERE reason IS NOT NULL")
        }
        #expect(!hasReason)
        // The purchases stay redeemed.
        #expect(try await redeem(claim("1"), for: alice) == [.ownedByAnotherUser])
        #expect(try fixture.problems() == [])
    }

    @Test func `log-ins and redemptions at the same time lose and double nothing`() async throws {
        let other = try fixture.again()
        let ghosts = try (1...4).map(Self.anonymous)
        try await withThrowingTaskGroup(of: Void.self) { [ledger, mint] group in
            for (index, ghost) in ghosts.enumerated() {
                for part in 0..<4 {
                    let ledger = part % 2 == 0 ? ledger : other
                    let claim = claim("\(index).\(part)")
                    group.addTask { _ = try await ledger.write { try $0.redeem([claim], for: ghost, at: Self.now) } }
                    group.addTask {
                        _ = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.now) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let expected = Set((0..<4).flatMap { index in (0..<4).map { "\(index).\($0)" } })
        #expect(try await Set(transactions(of: mint)) == expected)
        #expect(try await transactions(of: mint).count == expected.count)
        #expect(try await Set(ledger.read { try $0.aliases(of: mint) }) == Set(ghosts))
        #expect(try fixture.problems() == [])
    }

    @Test func `an exported ledger keeps its aliases`() async throws {
        #expect(try await redeem(claim("1"), for: ghost) == [.granted])
        #expect(try await redeem(claim("2"), for: mint) == [.granted])
        _ = try await logIn(ghost, as: mint)
        var lines = Data()
        _ = try ledger.export { lines.append($0) }
        let copy = try fixture.another()
        var rest = lines
        _ = try copy.importLines { () throws(ImportError) -> Data? in
            defer { rest = Data() }
            return rest.isEmpty ? nil : rest
        }
        let transactions = try await copy.read { try $0.transactions(of: ghost, before: nil, limit: 9) }
        #expect(Set(transactions.map(\.transactionIdentifier)) == ["1", "2"])
        #expect(try await copy.read { try $0.aliases(of: mint) } == [ghost])
    }
}
