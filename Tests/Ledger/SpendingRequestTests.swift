import Entitlements
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The idempotency keys of spendings.
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

    /// Spends, and returns the identifier of the spending with the amount left.
    private func spend(_ spending: Spending, for user: User? = nil) async throws -> String {
        let spent = try await ledger.write {
            try $0.spend(spending, for: user ?? alice, accepting: Set(Origin.allCases))
        }
        #expect(spent.isRepeated == (spent.spending != spending))
        return "\(spent.spending.identifier): \(spent.left)"
    }

    private func amount(of user: User) async throws -> Int? {
        try await ledger.read { try $0.balances(of: user, accepting: Set(Origin.allCases)) }.first?.amount
    }

    @Test func `a repeated request spends once, even with another API key and late`() async throws {
        let first = spending("s1")
        #expect(try await spend(first) == "s1: 6")
        #expect(try await spend(spending("s2", by: "rotated")) == "s1: 6")
        // The answer is the first one, although less is left now.
        #expect(try await spend(spending("s3", key: "other")) == "s3: 2")
        #expect(try await spend(spending("s4")) == "s1: 6")
        #expect(try await amount(of: alice) == 2)
    }

    @Test func `a different request under the same key is refused`() async throws {
        #expect(try await spend(spending("s1")) == "s1: 6")
        await #expect(throws: BalanceError.idempotencyKeyReused) {
            try await spend(spending("s2", digest: 2))
        }
        #expect(try await amount(of: alice) == 6)
    }

    @Test func `two users may use the same key, and requests without a key all spend`() async throws {
        #expect(try await spend(spending("s1")) == "s1: 6")
        #expect(try await spend(spending("s2"), for: bob) == "s2: 6")
        #expect(try await spend(spending("s3", key: nil, amount: 1)) == "s3: 5")
        #expect(try await spend(spending("s4", key: nil, amount: 1)) == "s4: 4")
    }

    @Test func `a refused spending leaves its key free`() async throws {
        await #expect(throws: BalanceError.balanceTooLow(name: "coins", amount: 10)) {
            try await spend(spending("s1", amount: 11))
        }
        #expect(try await spend(spending("s2", amount: 10)) == "s2: 0")
    }
}
