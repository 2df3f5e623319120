import Commerce
import Entitlements
import Foundation
import GRDB
import Ledger
import Testing
import TestSupport

/// A spending is made once for each idempotency key of a user.
@Suite struct SpendingRequestTests: LedgerSuite {
    let fixture: LedgerFixture

    init() async throws {
        fixture = try LedgerFixture()
        _ = try await redeem(claim(item: nil, credit: Credit(balance: "coins", amount: 10)), for: alice)
        _ = try await redeem(claim("2", item: nil, credit: Credit(balance: "coins", amount: 10)), for: bob)
    }

    private func spending(
        _ identifier: String,
        key: String? = "k",
        digest: UInt8 = 1,
        amount: Int = 4,
        by apiKey: String = "K"
    ) -> Spending {
        Spending(
            identifier: identifier, balance: "coins", amount: amount, reason: "a hat", spentBy: apiKey,
            spentAt: Self.now,
            request: key.map { .init(idempotencyKey: $0, digest: [UInt8](repeating: digest, count: 32)) })
    }

    private func spend(_ spending: Spending, for user: User? = nil) async throws -> SpendingAnswer {
        try await ledger.write { try $0.spend(spending, for: user ?? alice, counting: Set(Origin.allCases)) }
    }

    private func amount(of user: User) async throws -> Int? {
        try await ledger.read { try $0.balances(of: user, counting: Set(Origin.allCases)) }.first?.amount
    }

    @Test func `the same request spends once, whichever API key sends it and however late`() async throws {
        let first = spending("s1")
        #expect(try await spend(first) == .spent(left: 6))
        #expect(try await spend(spending("s2", by: "rotated")) == .repeated(first, left: 6))
        // The answer of then, though less is left now.
        #expect(try await spend(spending("s3", key: "other")) == .spent(left: 2))
        #expect(try await spend(spending("s4")) == .repeated(first, left: 6))
        #expect(try await amount(of: alice) == 2)
    }

    @Test func `another request under the same key is refused`() async throws {
        #expect(try await spend(spending("s1")) == .spent(left: 6))
        #expect(try await spend(spending("s2", digest: 2)) == .keyReused)
        #expect(try await amount(of: alice) == 6)
    }

    @Test func `two users may use one key, and requests without a key are all made`() async throws {
        #expect(try await spend(spending("s1")) == .spent(left: 6))
        #expect(try await spend(spending("s2"), for: bob) == .spent(left: 6))
        #expect(try await spend(spending("s3", key: nil, amount: 1)) == .spent(left: 5))
        #expect(try await spend(spending("s4", key: nil, amount: 1)) == .spent(left: 4))
    }

    @Test func `a refused spending leaves its key free`() async throws {
        #expect(try await spend(spending("s1", amount: 11)) == .tooLow(10))
        #expect(try await spend(spending("s2", amount: 10)) == .spent(left: 0))
    }

    /// Runs a statement behind the ledger's back.
    private func execute(_ sql: String) throws {
        if let schema = fixture.schema {
            _ = try schema.execute(sql)
        } else {
            try DatabaseQueue(path: folder.file("ledger.sqlite").path).write { try $0.execute(sql: sql) }
        }
    }

    @Test func `kept answers of version 14 are carried over, and its users keep access`() async throws {
        #expect(try await spend(spending("s1", key: nil)) == .spent(left: 6))
        let composed = try #require(User(issuer: "https://issuer.example", name: "Ren\u{E9}"))
        let plain = try #require(User(issuer: "https://issuer.example", name: "Rene"))
        for (number, user) in [composed, plain].enumerated() {
            _ = try await redeem(claim("9\(number)"), for: user)
        }
        #expect(try await !ledger.read { try $0.acceptsAnySpelling(of: composed) })
        let kept = KeptAnswer(
            requestDigest: [UInt8](repeating: 1, count: 32), status: 201, contentType: "application/json",
            body: Array(#"{"amount":4,"balance":"coins","left":6,"reason":"a hat","spendingId":"s1"}"#.utf8))
        let grant = KeptAnswer(
            requestDigest: [UInt8](repeating: 3, count: 32), status: 201, contentType: "application/json",
            body: Array(#"{"grantId":"g"}"#.utf8))
        for (key, answer) in [("k", kept), ("g", grant)] {
            _ = try await ledger.write {
                try $0.keep(
                    answer, for: IdempotencyKey(caller: "K", key: key), about: alice, at: Self.now,
                    forgettingBefore: Self.now)
            }
        }
        for statement in EarlierVersion.tables { try execute(statement) }
        try execute(LedgerFixture.isFile ? EarlierVersion.fileRecord : EarlierVersion.serverRecord)
        let ledger = try fixture.again()
        let again = try await ledger.write {
            try $0.spend(spending("s2", by: "rotated"), for: alice, counting: Set(Origin.allCases))
        }
        guard case .repeated(let spending, let left) = again else {
            Issue.record("\(again)")
            return
        }
        #expect((spending.identifier, spending.spentBy, left) == ("s1", "K", 6))
        #expect(
            try await ledger.write {
                try $0.spend(self.spending("s3", digest: 9), for: alice, counting: Set(Origin.allCases))
            } == .keyReused)
        #expect(try await ledger.read { try $0.acceptsAnySpelling(of: composed) })
        #expect(try await !ledger.read { try $0.acceptsAnySpelling(of: plain) })
        #expect(try await ledger.read { try $0.usersOfAnySpelling(issuer: "https://issuer.example") } == [composed])
        #expect(try fixture.problems() == [])
    }
}
