import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// An identifier that returns with another product, in either database and from each origin.
@Suite struct TransactionConflictTests: LedgerSuite {
    let fixture: LedgerFixture
    private static let gate = Item(collection: "gate", number: 1)

    init() throws {
        fixture = try LedgerFixture()
    }

    private func claim(_ product: String, of origin: Origin, revoked: Bool = false, signed: Int64 = 0) -> Claim {
        Claim(
            app: "com.example.app", origin: origin, transactionIdentifier: "1", originalTransactionIdentifier: "1",
            productIdentifier: product, quantity: 1, purchaseDate: Self.now,
            revocationDate: revoked ? Self.later(signed) : nil, signedAt: Self.later(signed),
            proofDigest: [UInt8](repeating: 7, count: 32), item: product == "gate" ? Self.gate : Self.sprout1)
    }

    @Test(arguments: Set<Origin>.ofEveryStore)
    func `another product under a redeemed identifier is refused, recorded and explained`(origin: Origin) async throws {
        #expect(try await redeem(claim("sprout", of: origin), for: alice) == [.granted])
        for user in [alice, bob, alice] {
            let results = try await redeem(claim("gate", of: origin, signed: 5), for: user)
            #expect(results == [.transactionConflict])
            #expect(results.allSatisfy { !$0.allowsFinish })
        }
        #expect(try await redeem(claim("sprout", of: origin), for: alice) == [.alreadyRedeemed])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        for user in [alice, bob] {
            let refusals = try await story(of: user).filter { $0.contains("refused") }
            #expect(refusals == ["user refused 1 gate transactionConflict"])
        }
        #expect(RefusalRemedy(code: Redemption.Result.transactionConflict.rawValue) != nil)
        #expect(try fixture.problems() == [])
    }

    @Test(arguments: Set<Origin>.ofEveryStore)
    func `a statement about another product takes nothing`(origin: Origin) async throws {
        #expect(try await redeem(claim("sprout", of: origin), for: alice) == [.granted])
        #expect(try await notify("a", claim("gate", of: origin, revoked: true, signed: 9)) == .recorded)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        #expect(try await story(of: alice).last == "\(origin.store.name) refused 1 gate transactionConflict")
        #expect(try fixture.problems() == [])
    }

    @Test(arguments: Set<Origin>.ofEveryStore)
    func `a parked statement about another product is not applied`(origin: Origin) async throws {
        #expect(try await notify("a", claim("gate", of: origin, revoked: true, signed: 9)) == .parked)
        #expect(try await redeem(claim("sprout", of: origin), for: alice) == [.transactionConflict])
        #expect(try await redeem(claim("gate", of: origin), for: alice) == [.revoked])
        #expect(try fixture.problems() == [])
    }

    @Test func `in one proof the first product has the identifier`() async throws {
        let origin = Origin.localSandbox
        #expect(
            try await redeem(claim("sprout", of: origin), claim("gate", of: origin), for: alice)
                == [.granted, .transactionConflict])
    }
}
