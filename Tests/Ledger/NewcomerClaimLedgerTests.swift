import Entitlements
import Features
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// Claims and log-ins of strangers, who have an allowance for what they write for users without a purchase.
@Suite struct NewcomerClaimLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// An allowance of some bytes.
    private final class Purse: Sendable {
        private let left: Mutex<Int>
        var bytes: Int { left.withLock(\.self) }

        init(_ bytes: Int) {
            left = Mutex(bytes)
        }

        var allowance: NewcomerAllowance {
            NewcomerAllowance { bytes in
                self.left.withLock { left in
                    guard bytes <= left else { return 1 }
                    left -= bytes
                    return nil
                }
            }
        }
    }

    private static func customer(_ id: String) throws -> User { try #require(CustomerIdentifier(id)).user }

    private func request(_ claims: [Claim], for user: User, _ purse: Purse?) -> ClaimRequest {
        var presented = PresentedClaims(claims, for: user, accepting: Set(Origin.allCases), by: .user)
        presented.newcomers = purse?.allowance
        return .redeem(presented)
    }

    private func answers(_ requests: [ClaimRequest], in ledger: Ledger? = nil) async throws -> [LedgerAnswer?] {
        let answers = try await (ledger ?? self.ledger).write {
            try $0.decide(
                requests, under: .keep, accepting: AcceptedOrigins(Set(Origin.allCases)), at: Self.now)
        }
        return answers.map { if case .redeemed(let answer) = $0 { answer } else { nil } }
    }

    private func isKnown(_ user: User) async throws -> Bool {
        try await ledger.read { try $0.users.known(user) } != nil
    }

    private func count(_ table: String) async throws -> Int {
        try await ledger.read { try $0.database.value("SELECT count(*) FROM \"\(table)\"", []) ?? 0 }
    }

    @Test func `beyond the allowance only a stranger to whom a claim gives something is written`() async throws {
        #expect(try await redeem(claim("1"), for: alice) == [.granted])
        let ids = try ["refused", "granted", "late", "empty"].map { try Self.customer($0) }
        let nothing = Purse(0)
        let answers = try await answers([
            request([claim("1")], for: ids[0], nothing), request([claim("1"), claim("2")], for: ids[1], nothing),
            request([claim("2")], for: ids[2], nothing), request([], for: ids[3], nothing),
            request([claim("1")], for: bob, nil), request([claim("1")], for: bob, nothing),
        ])
        let refused: [Redemption.Result] = [.ownedByAnotherUser]
        #expect(
            answers.map { $0?.results } == [
                refused, [.ownedByAnotherUser, .granted], refused, [], refused, refused,
            ])
        #expect(answers.map { $0?.items } == [[], [Self.sprout1], [], [], [], []])
        var known: [Bool] = []
        for user in ids + [bob] { known.append(try await isKnown(user)) }
        #expect(known == [false, true, false, false, true])
        // The buyer's refusal is recorded, and that of a back end.
        #expect(try await count("refusal") == 2)
        #expect(try await story(of: bob) == ["user refused 1 p ownedByAnotherUser"])
        #expect(try await story(of: ids[1]).count == 2)
        #expect(try fixture.problems() == [])
    }

    @Test func `a refusal takes its bytes once, and none of a user with a purchase`() async throws {
        #expect(try await redeem(claim("1"), claim("2"), for: alice) == [.granted, .granted])
        let (stranger, buyer) = (try Self.customer("stranger"), try Self.customer("buyer"))
        #expect(try await redeem(claim("3"), for: buyer) == [.granted])
        let new = NewcomerAllowance.bytes(ofUserNamed: stranger)
        let steps: [(user: User, claims: [Claim], bytes: Int)] = [
            (stranger, [claim("1")], new + 512), (stranger, [claim("1")], 0),
            (stranger, [claim("1"), claim("2"), claim("3")], 2 * 512), (buyer, [claim("1"), claim("2")], 0),
        ]
        for (index, step) in steps.enumerated() {
            let purse = Purse(100_000)
            _ = try await answers([request(step.claims, for: step.user, purse)])
            #expect(100_000 - purse.bytes == step.bytes, "\(index)")
        }
        #expect(try await count("refusal") == 5)
        // All or nothing.
        let short = Purse(2 * 512 - 1)
        #expect(try await redeem(claim("4"), claim("5"), for: alice) == [.granted, .granted])
        _ = try await answers([request([claim("4"), claim("5")], for: stranger, short)])
        #expect(short.bytes == 2 * 512 - 1)
        #expect(try await count("refusal") == 5)
    }

    @Test func `of a group, users with a purchase need no allowance, even if it is refunded`() async throws {
        #expect(try await redeem(claim("1"), claim("4"), for: alice) == [.granted, .granted])
        let users = try ["buyer", "refunded", "stranger", "unknown"].map(Self.customer)
        #expect(try await redeem(claim("2"), for: users[0]) == [.granted])
        #expect(try await redeem(claim("3"), for: users[1]) == [.granted])
        #expect(try await notify("n", claim("3", revoked: Self.now, signedAt: Self.later(1))) == .revoked)
        _ = try await answers([request([claim("1")], for: users[2], Purse(100_000))])
        var havePurchases: [Bool] = []
        for user in users { havePurchases.append(try await ledger.read { try $0.hasPurchases(user) }) }
        #expect(havePurchases == [true, true, false, false])
        let before = try await count("refusal")
        _ = try await answers(users.map { request([claim("4")], for: $0, Purse(0)) })
        #expect(try await count("refusal") == before + 2)
        #expect(try fixture.problems() == [])
    }

    @Test func `a stranger keeps a place for a purchase that the next request of the group takes`() async throws {
        let users = try ["first", "second"].map(Self.customer)
        let claim = claim("1")
        let requests = users.map { request([claim], for: $0, Purse(0)) }
        _ = try await ledger.write {
            try $0.decide(
                requests, under: .transfer(pauseSeconds: 0), accepting: AcceptedOrigins(Set(Origin.allCases)),
                at: Self.now)
        }
        #expect(try await isKnown(users[0]))
        #expect(try await ledger.read { try $0.hasPurchases(users[1]) })
        #expect(try fixture.problems() == [])
    }

    @Test func `a proof of another origin is recorded within the allowance`() async throws {
        let (stranger, buyer) = (try Self.customer("stranger"), try Self.customer("buyer"))
        #expect(try await redeem(claim("1"), for: buyer) == [.granted])
        func record(_ transaction: String, for user: User, _ bytes: Int) async throws -> Int {
            let (purse, before) = (Purse(bytes), try await count("refusal"))
            let claim = claim(transaction)
            try await ledger.write {
                try $0.recordRefusal(
                    "originNotAccepted", of: [claim], in: claim.app, for: user, by: .user,
                    newcomers: purse.allowance, at: Self.now)
            }
            return try await count("refusal") - before
        }
        #expect(try await record("2", for: stranger, 100) == 0)
        #expect(try await !isKnown(stranger))
        #expect(try await record("2", for: stranger, 2000) == 1)
        #expect(try await record("3", for: stranger, 100) == 0)
        #expect(try await record("3", for: stranger, 512) == 1)
        #expect(try await record("3", for: buyer, 0) == 1)
    }

    @Test func `attributes take the bytes by which they grow, and none of a user with a purchase`() async throws {
        let (stranger, buyer) = (try Self.customer("stranger"), try Self.customer("buyer"))
        #expect(try await redeem(claim("1"), for: buyer) == [.granted])
        func state(_ name: String, _ value: String?, of user: User, _ purse: Purse) async throws {
            let attribute = try Attribute(name: name, value: value, statedAt: Self.now, isPublic: true)
            try await ledger.write {
                try $0.state([attribute], of: user, newcomers: purse.allowance, at: Self.now)
            }
        }
        let new = NewcomerAllowance.bytes(ofUserNamed: stranger)
        let (short, long) = ("v", String(repeating: "w", count: 1000))
        let steps: [(user: User, name: String, value: String?, bytes: Int)] = [
            (stranger, "a", short, new + 102), (stranger, "a", short, 0), (stranger, "a", long, 999),
            (stranger, "b", short, 102), (buyer, "a", long, 0), (buyer, "b", long, 0),
        ]
        for (index, step) in steps.enumerated() {
            let purse = Purse(100_000)
            try await state(step.name, step.value, of: step.user, purse)
            #expect(100_000 - purse.bytes == step.bytes, "\(index)")
        }
        // All or nothing, also for a new user.
        let other = try Self.customer("other")
        let needed = NewcomerAllowance.bytes(ofUserNamed: other) + 102
        await #expect(throws: LedgerError.newcomersLimited(secondsToWait: 1)) {
            try await state("a", short, of: other, Purse(needed - 1))
        }
        #expect(try await !isKnown(other))
        try await state("a", short, of: other, Purse(needed))
        #expect(try await isKnown(other))
        #expect(try fixture.problems() == [])
    }

    /// A log-in of one id as another.
    struct LogInExample: Sendable {
        let current: String
        let new: String
        /// True if nothing is written beyond the allowance.
        let isLimited: Bool
    }

    private static let ghost = "$RCAnonymousID:" + String(repeating: "1", count: 32)
    private static let buyingGhost = "$RCAnonymousID:" + String(repeating: "2", count: 32)
    private static let givenGhost = "$RCAnonymousID:" + String(repeating: "4", count: 32)
    private static let unusedGhost = "$RCAnonymousID:" + String(repeating: "3", count: 32)

    @Test(arguments: [
        // A customer with a purchase leaves it behind.
        LogInExample(current: "buyer", new: "invented", isLimited: true),
        LogInExample(current: unusedGhost, new: "invented", isLimited: true),
        LogInExample(current: unusedGhost, new: "poor", isLimited: true),
        LogInExample(current: ghost, new: "invented", isLimited: true),
        LogInExample(current: ghost, new: "poor", isLimited: true),
        // Such log-ins could go on for ever.
        LogInExample(current: buyingGhost, new: unusedGhost, isLimited: true),
        LogInExample(current: buyingGhost, new: "invented", isLimited: false),
        LogInExample(current: buyingGhost, new: "poor", isLimited: false),
        LogInExample(current: givenGhost, new: "invented", isLimited: false),
        LogInExample(current: ghost, new: "buyer", isLimited: false),
        LogInExample(current: unusedGhost, new: "buyer", isLimited: false),
    ])
    func `a log-in beyond the allowance is written if it brings a purchase or a gift to a known customer`(
        example: LogInExample
    )
        async throws
    {
        for (number, id) in ["buyer", Self.buyingGhost].enumerated() {
            #expect(try await redeem(claim("\(number)"), for: try Self.customer(id)) == [.granted])
        }
        for id in ["poor", Self.ghost] {
            let user = try Self.customer(id)
            _ = try await ledger.write { try $0.number(of: user, at: Self.now) }
        }
        let grant = Grant(
            identifier: "g", item: Item(collection: "gate", number: 1), reason: "an apology", grantedBy: "K",
            grantedAt: Self.now, endsAt: nil)
        let given = try Self.customer(Self.givenGhost)
        _ = try await ledger.write { try $0.add(grant, for: given) }
        let (current, new) = (try Self.customer(example.current), try Self.customer(example.new))
        let isNew = try await !isKnown(new)
        func logIn(_ purse: Purse) async throws -> Bool {
            let tables = ["user", "user_name", "audit", "user_merge"]
            var before: [Int] = []
            for table in tables { before.append(try await count(table)) }
            let logIn = try await ledger.write {
                try $0.logIn(current, as: new, by: .user, newcomers: purse.allowance, at: Self.now)
            }
            #expect(logIn.isNew == isNew)
            var after: [Int] = []
            for table in tables { after.append(try await count(table)) }
            return before != after
        }
        #expect(try await logIn(Purse(0)) != example.isLimited)
        if example.isLimited {
            let purse = Purse(5000)
            #expect(try await logIn(purse))
            #expect(purse.bytes < 5000)
        }
        #expect(try fixture.problems() == [])
    }

    @Test(arguments: 0..<10) func `an allowance changes no answer`(seed: UInt64) async throws {
        let dice = Dice(seed: seed)
        let users = try (0..<5).map { try Self.customer("user \($0)") }
        let ledgers = [try fixture.another(), try fixture.another(), ledger]
        for _ in 0..<8 {
            let requests = (0..<6).compactMap { _ -> (claims: [Claim], user: User)? in
                let claims = (0..<dice.number(below: 3)).map { _ in claim("\(dice.number(below: 12))") }
                return dice.pick(users).map { (claims, $0) }
            }
            var answers: [[LedgerAnswer?]] = []
            for (ledger, purse) in zip(ledgers, [nil, Purse(0), Purse(3000)]) {
                answers.append(
                    try await self.answers(requests.map { request($0.claims, for: $0.user, purse) }, in: ledger))
            }
            #expect(answers[1] == answers[0])
            #expect(answers[2] == answers[0])
        }
        #expect(try fixture.problems() == [])
    }
}
