import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Facts that the App Store states, in the ledger.
@Suite struct FactLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// A value for each fact.
    private static func facts<Fact>(_ number: Int64, of type: Fact.Type = Fact.self) -> StatedFacts<Fact> {
        StatedFacts(
            Dictionary(
                uniqueKeysWithValues: Fact.allCases.map { fact in
                    switch fact.field.kind {
                    case .integer, .bool, .date: (fact, .integer(number))
                    case .text, .token, .texts, .object: (fact, .text("\(fact) \(number)"))
                    }
                }))
    }

    private func renewal(_ number: Int64) -> StatedRenewal {
        StatedRenewal(
            statedAt: Self.later(number), proofDigest: [UInt8](repeating: UInt8(number), count: 32),
            facts: Self.facts(number))
    }

    private func facts(of user: User) async throws -> [TransactionFacts] {
        try await ledger.read { try $0.transactions(of: user, before: nil, limit: 9) }.map(\.facts)
    }

    private func renewals(of user: User) async throws -> [StatedRenewal] {
        try await ledger.read { try $0.renewals(of: user) }.map(\.renewal)
    }

    @Test func `every fact is kept, and completed by later statements`() async throws {
        #expect(try await redeem(claim("1"), for: alice) == [.granted])
        #expect(try await facts(of: alice) == [TransactionFacts()])
        let stated = Self.facts(1, of: TransactionFact.self)
        #expect(try await redeem(claim("1", facts: stated), for: alice) == [.alreadyRedeemed])
        #expect(try await facts(of: alice) == [stated])
        #expect(try await notify("a", claim("1", facts: Self.facts(2), renewal: renewal(2))) == .recorded)
        #expect(try await notify("b", claim("1", facts: Self.facts(1), renewal: renewal(1))) == .recorded)
        #expect(try await facts(of: alice) == [Self.facts(2)])
        #expect(try await renewals(of: alice) == [renewal(2)])
        #expect(try fixture.problems() == [])
    }

    /// The digits in existing ledgers. They stay when Apple adds a word.
    @Test(
        arguments: [
            (.environment, "Production", "0"), (.environment, "Sandbox", "1"), (.environment, "Xcode", "2"),
            (.environment, "LocalTesting", "3"), (.type, "Consumable", "0"), (.type, "Non-Consumable", "1"),
            (.type, "Non-Renewing Subscription", "2"), (.type, "Auto-Renewable Subscription", "3"),
            (.inAppOwnershipType, "FAMILY_SHARED", "0"), (.inAppOwnershipType, "PURCHASED", "1"),
            (.inAppOwnershipType, "ASSIGNED", "2"), (.transactionReason, "PURCHASE", "0"),
            (.transactionReason, "RENEWAL", "1"), (.offerDiscountType, "FREE_TRIAL", "0"),
            (.offerDiscountType, "PAY_AS_YOU_GO", "1"), (.offerDiscountType, "PAY_UP_FRONT", "2"),
            (.offerDiscountType, "ONE_TIME", "3"),
            // Texts that are no words, some of which look like places.
            (.type, "Rental", "Rental"), (.type, "3", "=3"), (.type, "9", "=9"), (.type, "=3", "==3"), (.type, "", "="),
            (.currency, "3", "3"),
        ] as [(TransactionFact, String, String)])
    func `a frequent word is a digit in the ledger, and any text comes back`(
        fact: TransactionFact, text: String, stored: String
    ) {
        #expect(fact.storedText(text) == stored)
        #expect(fact.statedText(stored) == text)
    }

    @Test func `parked facts are recorded with the transaction`() async throws {
        #expect(try await notify("a", claim("1", facts: Self.facts(2), renewal: renewal(2))) == .parked)
        #expect(try await notify("b", claim("1", facts: Self.facts(1), renewal: renewal(1))) == .parked)
        #expect(try await redeem(claim("1"), for: alice) == [.granted])
        #expect(try await facts(of: alice) == [Self.facts(2)])
        #expect(try await renewals(of: alice) == [renewal(2)])
    }

    @Test func `facts go to the next owner of a purchase`() async throws {
        #expect(try await redeem(claim("1", facts: Self.facts(1), renewal: renewal(1)), for: alice) == [.granted])
        let later = claim("1", signedAt: Self.later(2), facts: Self.facts(2), renewal: renewal(2))
        #expect(try await redeem(later, for: bob, under: .transfer(pauseSeconds: 0)) == [.granted])
        #expect(try await facts(of: alice) == [])
        #expect(try await renewals(of: alice) == [])
        #expect(try await facts(of: bob) == [Self.facts(2)])
        #expect(try await renewals(of: bob) == [renewal(2)])
        #expect(try fixture.problems() == [])
    }

    @Test func `a refused claim states nothing`() async throws {
        #expect(try await redeem(claim("1", facts: Self.facts(1)), for: alice) == [.granted])
        let other = claim("1", signedAt: Self.later(2), facts: Self.facts(2), renewal: renewal(2))
        #expect(try await redeem(other, for: bob) == [.ownedByAnotherUser])
        #expect(try await facts(of: alice) == [Self.facts(1)])
        #expect(try await renewals(of: alice) == [])
    }
}
