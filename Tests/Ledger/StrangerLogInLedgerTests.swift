import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Log-ins of strangers as a known customer, in either database. Anybody with an app's public key can do them.
@Suite struct StrangerLogInLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let mint: User

    init() throws {
        fixture = try LedgerFixture()
        mint = try #require(CustomerIdentifier("mint")).user
    }

    private static func anonymous(_ number: Int) throws -> User {
        let digits = String(number + 1_000_000)
        let id = "$RCAnonymousID:" + String(repeating: "0", count: 32 - digits.count) + digits
        return try #require(CustomerIdentifier(id)).user
    }

    @discardableResult
    private func logIn(_ current: User, as new: User) async throws -> LogIn {
        try await ledger.write { try $0.logIn(current, as: new, by: .user, at: Self.later(9)) }
    }

    private static func coins(_ transaction: String, revoked: Bool = false) -> Claim {
        let credit = Credit(balance: "coins", amount: 10)
        return Claim(
            app: "com.example.app", origin: .localSandbox, transactionIdentifier: transaction,
            originalTransactionIdentifier: transaction, productIdentifier: "coins", quantity: 1, purchaseDate: now,
            revocationDate: revoked ? later(5) : nil, signedAt: revoked ? later(5) : now,
            proofDigest: [UInt8](repeating: 7, count: 32), item: nil, credit: credit)
    }

    private func balance(of user: User) async throws -> Int {
        try await ledger.read { try $0.balances(of: user, accepting: Set(Origin.allCases)) }.first?.amount ?? 0
    }

    /// Spends, and returns false if the balance is too low.
    @discardableResult
    private func spend(_ amount: Int, of user: User, _ identifier: String) async throws -> Bool {
        let spending = Spending(
            identifier: identifier, balance: "coins", amount: amount, reason: "a hat", spentBy: "K", spentAt: Self.now)
        do {
            _ = try await ledger.write { try $0.spend(spending, for: user, accepting: Set(Origin.allCases)) }
            return true
        } catch BalanceError.balanceTooLow {
            return false
        }
    }

    private func refund(_ transaction: String) async throws {
        _ = try await notify("refund \(transaction)", Self.coins(transaction, revoked: true))
    }

    /// The time of the refund of what the stranger bought and spent.
    enum Refund: CaseIterable {
        case beforeLogIn
        case afterLogIn
    }

    /// The way of the stranger's anonymous customer to the victim.
    enum Way: CaseIterable {
        /// The victim has bought before.
        case known
        /// The victim's id is unknown, and the victim buys afterwards.
        case unknown
        /// The stranger's customer becomes another anonymous one first.
        case chain
    }

    @Test(arguments: Refund.allCases, Way.allCases)
    func `nobody brings a debt to another customer`(refund: Refund, way: Way) async throws {
        let (ghost, other) = (try Self.anonymous(1), try Self.anonymous(2))
        if way != .unknown { #expect(try await redeem(Self.coins("1"), for: mint) == [.granted]) }
        #expect(try await redeem(Self.coins("11"), for: ghost) == [.granted])
        #expect(try await spend(10, of: ghost, "s"))
        if way == .chain { #expect(try await redeem(claim("12"), for: other) == [.granted]) }
        if refund == .beforeLogIn { try await self.refund("11") }
        if way == .chain { #expect(try await logIn(ghost, as: other).effect == .merged) }
        try await logIn(way == .chain ? other : ghost, as: mint)
        if way == .unknown { #expect(try await redeem(Self.coins("1"), for: mint) == [.granted]) }
        if refund == .afterLogIn { try await self.refund("11") }
        for user in [mint, ghost] { #expect(try await balance(of: user) == 10) }
        #expect(try await spend(4, of: mint, "t"))
        #expect(try await !spend(7, of: mint, "u"))
        #expect(try await balance(of: mint) == 6)
        // The victim's own debt stays the victim's.
        try await self.refund("1")
        #expect(try await balance(of: mint) == 0)
        #expect(try await redeem(Self.coins("2"), for: mint) == [.granted])
        #expect(try await balance(of: mint) == 6)
        #expect(try fixture.problems() == [])
    }

    @Test func `what an anonymous customer has left is added, and an addition of the team too`() async throws {
        let ghost = try Self.anonymous(1)
        #expect(try await redeem(Self.coins("1"), for: mint) == [.granted])
        #expect(try await redeem(Self.coins("11"), Self.coins("12"), for: ghost) == [.granted, .granted])
        #expect(try await spend(13, of: ghost, "s"))
        let addition = BalanceAddition(
            identifier: "a", balance: "coins", amount: 5, reason: "sorry", addedBy: "K", addedAt: Self.now)
        _ = try await ledger.write { try $0.add(addition, for: ghost) }
        #expect(try await logIn(ghost, as: mint).effect == .merged)
        #expect(try await balance(of: mint) == 22)
        try await refund("11")
        #expect(try await balance(of: mint) == 12)
        try await refund("12")
        #expect(try await balance(of: mint) == 10)
        #expect(try fixture.problems() == [])
    }

    @Test func `refusals stay with the anonymous customer`() async throws {
        let ghost = try Self.anonymous(1)
        #expect(try await redeem(claim("1"), for: mint) == [.granted])
        #expect(try await redeem(claim("2"), for: ghost) == [.granted])
        #expect(try await redeem(claim("1"), for: ghost) == [.ownedByAnotherUser])
        #expect(try await logIn(ghost, as: mint).effect == .merged)
        let number = try #require(try await ledger.read { try $0.users.known(mint) })
        let refusals = try await ledger.read {
            try $0.database.rows("SELECT user_id FROM refusal") { try $0.next() as Int64 }
        }
        #expect(refusals.count == 1 && refusals != [number])
        #expect(try await story(of: mint).allSatisfy { !$0.contains("refused") })
        #expect(try fixture.problems() == [])
    }

    // MARK: Bounds

    @Test func `a customer has at most fifty aliases, and more log-ins write nothing`() async throws {
        #expect(try await redeem(claim("1"), for: mint) == [.granted])
        for number in 0..<UserRecords.maximumAliases {
            #expect(try await logIn(Self.anonymous(number), as: mint).effect == .aliased)
        }
        let before = try await rows()
        for number in 50..<80 {
            let logIn = try await logIn(Self.anonymous(number), as: mint)
            #expect(logIn.effect == .unchanged && !logIn.isNew)
        }
        // Customers with attributes alone, or nothing, stay as they are.
        let empty = try Self.anonymous(90)
        let known = try await logIn(empty, as: empty)
        #expect(known.isNew)
        #expect(try await logIn(empty, as: mint).effect == .unchanged)
        let after = try await rows()
        #expect(after["audit"] == before["audit"] && after["user_merge"] == before["user_merge"])
        #expect(after["user_name"] == before["user_name"].map { $0 + 1 })
        #expect(try await ledger.read { try $0.aliases(of: mint) }.count == UserRecords.maximumAliases)
        #expect(try fixture.problems() == [])
    }

    /// The numbers of rows of all tables.
    private func rows() async throws -> [String: Int] {
        try await ledger.read { transaction in
            var counts: [String: Int] = [:]
            for table in [LedgerFeature].all.tables {
                counts[table.name] =
                    try transaction.database.value("SELECT count(*) FROM \"\(table.name)\"", []) ?? 0
            }
            for table in ["user", "user_name", "user_merge", "account_token", "audit"] {
                counts[table] = try transaction.database.value("SELECT count(*) FROM \"\(table)\"", []) ?? 0
            }
            return counts
        }
    }

    @Test func `a stranger who fills the aliases takes no purchase of a later log-in`() async throws {
        let ghost = try Self.anonymous(99)
        for number in 0..<60 { try await logIn(Self.anonymous(number), as: mint) }
        #expect(try await redeem(claim("1"), for: ghost) == [.granted])
        #expect(try await logIn(ghost, as: mint).effect == .merged)
        #expect(try await ledger.read { try $0.items(of: mint, at: Self.now) } == [Self.sprout1])
        // The id of the merged customer replaces an older one.
        #expect(try await ledger.read { try $0.items(of: ghost, at: Self.now) } == [Self.sprout1])
        #expect(try await ledger.read { try $0.aliases(of: mint) }.count == UserRecords.maximumAliases)
        #expect(try fixture.problems() == [])
    }

    @Test func `a chain of anonymous customers has at most fifty aliases, the newest ones`() async throws {
        var last = try Self.anonymous(0)
        #expect(try await redeem(claim("0"), for: last) == [.granted])
        for number in 1...60 {
            let next = try Self.anonymous(number)
            #expect(try await redeem(claim("\(number)"), for: next) == [.granted])
            #expect(try await logIn(last, as: next).effect == .merged)
            last = next
        }
        #expect(try await logIn(last, as: mint).effect == .aliased)
        let aliases = try await ledger.read { try $0.aliases(of: mint) }
        #expect(aliases.count == UserRecords.maximumAliases)
        let owned = try await ledger.read { try $0.transactions(of: mint, before: nil, limit: 99) }
        #expect(owned.count == 61)
        #expect(try fixture.problems() == [])
    }

    @Test func `a log-in moves the largest customer, and refuses a larger one unchanged`() async throws {
        let (ghost, other) = (try Self.anonymous(1), try Self.anonymous(2))
        #expect(try await redeem(claim("1"), for: mint) == [.granted])
        // A transaction and its credit are two records.
        let claims = (0..<LogIn.maximumRecords / 2).map { Self.coins("a\($0)") }
        _ = try await ledger.write { try $0.redeem(claims, for: ghost, at: Self.now) }
        let more = claims.indices.map { Self.coins("b\($0)") } + [claim("b")]
        _ = try await ledger.write { try $0.redeem(more, for: other, at: Self.now) }
        let before = try await rows()
        await #expect(throws: LogInError.customerTooLarge) { try await logIn(other, as: mint) }
        let unknown = try #require(CustomerIdentifier("newcomer")).user
        await #expect(throws: LogInError.customerTooLarge) { try await logIn(other, as: unknown) }
        #expect(try await rows() == before)
        #expect(try await logIn(ghost, as: mint).effect == .merged)
        #expect(try await balance(of: mint) == 10 * claims.count)
        // The team's import joins customers of any size.
        _ = try await ledger.write { try $0.add(imported: mint, aliases: [other], by: "import", at: Self.now) }
        #expect(try await balance(of: mint) == 20 * claims.count)
        #expect(try fixture.problems() == [])
    }

    @Test func `a large anonymous customer does not move again and again`() async throws {
        let ghost = try Self.anonymous(0)
        let claims = (0..<100).map { Self.coins("\($0)") }
        _ = try await ledger.write { try $0.redeem(claims, for: ghost, at: Self.now) }
        let number = try await ledger.read { try $0.users.known(ghost) }
        for number in 1...5 {
            let next = try Self.anonymous(number)
            #expect(try await redeem(claim("next \(number)"), for: next) == [.granted])
            #expect(try await logIn(ghost, as: next).effect == .merged)
        }
        // The rows are still those of the first number, and every id leads there.
        for id in 0...5 {
            #expect(try await ledger.read { try $0.users.known(Self.anonymous(id)) } == number)
        }
        #expect(try await balance(of: ghost) == 1000)
        #expect(try fixture.problems() == [])
    }
}
