import Entitlements
import Foundation
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Ids that strangers claim, because their account token is another customer's.
@Suite struct ClaimedNameTests {
    private static let gate = "garden.gate"
    private static let monthly = "garden.premium.monthly"
    private static let uuid = "9B2E6C1A-77D0-4F3B-8C55-0A1B2C3D4E5F"

    /// A customer whose id gives purchases a token, and the door that the customer's app uses.
    enum Victim: String, CaseIterable {
        case named = "alice"
        case uuid = "9B2E6C1A-77D0-4F3B-8C55-0A1B2C3D4E5F"

        /// The tokens that apps derive from the id.
        var tokens: [UUID] { UsernameTokens.tokens(of: rawValue) }
    }

    /// The ids from which the victim's token, or the victim's id in another spelling, follows.
    private static func claims(of victim: Victim, _ token: UUID) -> [String] {
        let spellings = [victim.rawValue, token.uuidString].flatMap { text in
            [text, text.lowercased(), text.uppercased(), text.capitalized, " " + text, text + "\u{200B}"]
        }
        return Array(Set(spellings)).filter { $0 != victim.rawValue }.sorted()
    }

    private static func user(_ id: String) throws -> User { try #require(CustomerIdentifier(id)).user }

    /// Lets a stranger use every claimed id at every door, with purchases that name the victim's token.
    private func claim(_ victim: Victim, _ token: UUID, at door: DoorGarden) async throws -> Set<String> {
        var own: Set<String> = []
        for id in Self.claims(of: victim, token) {
            for obfuscated in [nil, token.uuidString] {
                let bought = try door.garden.buy("garden.seeds", appAccountToken: token, account: "mallory")
                own.insert(try #require(bought.purchase).transactionIdentifier)
                let proof = try door.garden.store.signedTransaction(bought.identifier)
                let validation = CordovaLifeTests.body(proof, username: id, obfuscated: obfuscated)
                #expect(try await door.send(.post, CordovaMiddleware.path, validation).status == 200, "\(id)")
                _ = try await door.redeem(proof, of: id, product: "garden.seeds")
            }
            _ = try await door.logIn(DoorGarden.anonymous, as: id)
            _ = try await door.alias(id, as: DoorGarden.anonymous)
        }
        return own
    }

    private func transactions(of id: String, at door: DoorGarden) async throws -> Set<String> {
        let user = try Self.user(id)
        return Set(
            try await door.entitlements.transactions(of: user, before: nil, limit: 999).map(\.transactionIdentifier))
    }

    /// Buys a product as the victim's app does.
    private func buy(
        _ product: String,
        _ token: UUID,
        at door: DoorGarden
    ) throws -> (proof: String, identifier: String) {
        let bought = try door.garden.buy(product, appAccountToken: token, account: "victim")
        return (
            try door.garden.store.signedTransaction(bought.identifier),
            try #require(bought.purchase).transactionIdentifier
        )
    }

    @Test(arguments: Victim.allCases, [true, false])
    func `nobody takes a purchase by an id whose token is the customer's`(
        victim: Victim,
        strangerComesFirst: Bool
    ) async throws {
        for token in victim.tokens {
            let door = try await DoorGarden()
            var own: Set<String> = []
            if strangerComesFirst { own = try await claim(victim, token, at: door) }
            // The App Store states the purchases before the victim's app sends them.
            let gate = try buy(Self.gate, token, at: door)
            let monthly = try buy(Self.monthly, token, at: door)
            try await door.notify()
            if !strangerComesFirst {
                _ = try await door.redeem(monthly.proof, of: victim.rawValue, product: Self.monthly)
                own = try await claim(victim, token, at: door)
            }
            for (proof, product) in [(gate.proof, Self.gate), (monthly.proof, Self.monthly)] {
                let validation = CordovaLifeTests.body(
                    proof, username: victim.rawValue, obfuscated: token.uuidString)
                let answer = try await door.send(.post, CordovaMiddleware.path, validation)
                #expect(answer["ok"] == .bool(true), "\(product): \(String(decoding: answer.body, as: UTF8.self))")
                #expect(try await door.redeem(proof, of: victim.rawValue, product: product).status == 200)
            }
            // Renewals stay, and bear the token, too.
            try door.garden.advance(to: "2026-12-01T00:00:00Z")
            try await door.notify()
            let owned = try await transactions(of: victim.rawValue, at: door)
            #expect(owned.isSuperset(of: [gate.identifier, monthly.identifier]))
            #expect(owned.subtracting(own).count == 3)
            for id in Self.claims(of: victim, token) + [DoorGarden.anonymous] {
                #expect(try await transactions(of: id, at: door).isSubset(of: own), "\(id)")
            }
            let items = try await door.entitlements.ownItems(of: Self.user(victim.rawValue))
            #expect(Set(items) == [Item(collection: "gate", number: 1), Item(collection: "plus", number: 2)])
        }
    }

    @Test func `a refused proof writes no token, alias or purchase`() async throws {
        let review = try Self.user("review")
        let door = try await DoorGarden(accepted: AcceptedOrigins([.localProduction], sandboxUsers: [review]))
        let token = try #require(UsernameTokens.tokens(of: "alice").first)
        let bought = try door.garden.buy(Self.gate, appAccountToken: token, account: "mallory")
        let proof = try door.garden.store.signedTransaction(bought.identifier)
        for username in [nil, "mallory", "alice", token.uuidString, token.uuidString.lowercased()] {
            let validation = CordovaLifeTests.body(proof, username: username, obfuscated: token.uuidString)
            #expect(try await door.send(.post, CordovaMiddleware.path, validation)["ok"] == .bool(false))
            let user = username ?? DoorGarden.anonymous
            #expect(try await door.redeem(proof, of: user, product: Self.gate).status >= 400)
            let owner = try await door.entitlements.ledger.read {
                try $0.owner(ofAppAccountToken: token, among: [try Self.user(user)])
            }
            #expect(owner != .given)
        }
        let written = try await door.ledger.read { transaction in
            try Self.exclusiveRights.map { try transaction.database.rows($0) { _ in }.count }
        }
        #expect(written == Self.exclusiveRights.map { _ in 0 })
    }

    /// The rows of aliases, merges and purchases.
    private static let exclusiveRights =
        ["user_alias", "account_token_alias", "user_merge", "claim", "parked_transaction"]
        .map { "SELECT * FROM \($0)" }

    @Test func `a refused proof does not make an unnamed customer another one`() async throws {
        let door = try await DoorGarden()
        let (token, bob) = (UUID(), try Self.user("bob"))
        let gate = try door.buy(Self.gate, account: "gardener")
        let bought = try door.garden.buy(Self.monthly, appAccountToken: token, account: "alice")
        let monthly = try door.garden.store.signedTransaction(bought.identifier)
        func validate(_ proof: String, _ username: String? = nil) async throws -> JSONValue? {
            try await door.send(.post, CordovaMiddleware.path, CordovaLifeTests.body(proof, username: username))["ok"]
        }
        for proof in [gate.proof, monthly] { #expect(try await validate(proof) == .bool(true)) }
        #expect(try await door.entitlements.setAppAccountToken(token, of: bob) == .set)
        #expect(try await validate(monthly, "mallory") == .bool(false))
        #expect(try await transactions(of: "mallory", at: door).isEmpty)
        #expect(try await validate(gate.proof) == .bool(true))
        // The purchase itself is bob's by the word of the back end.
        #expect(try await validate(monthly, "bob") == .bool(true))
        // The customer of the gate is still unnamed, and its first id takes it along.
        #expect(try await validate(gate.proof, "alice") == .bool(true))
        #expect(try await transactions(of: "alice", at: door) == [gate.identifier])
    }

    @Test func `a back end corrects a token, and keeps the purchases of the former one`() async throws {
        let door = try await DoorGarden()
        let (alice, bob) = (try Self.user("alice"), try Self.user("bob"))
        let token = UUID()
        #expect(try await door.entitlements.setAppAccountToken(token, of: bob) == .set)
        let former = try await door.entitlements.appAccountToken(of: alice)
        #expect(try await door.entitlements.setAppAccountToken(token, of: alice) == .hasAnother(former))
        #expect(try await door.entitlements.setAppAccountToken(token, of: alice, isCorrection: true) == .set)
        #expect(try await door.entitlements.appAccountToken(of: bob) != token)
        for (product, token) in [(Self.gate, token), ("garden.season", former)] {
            _ = try door.garden.buy(product, appAccountToken: token, account: "alice")
        }
        try await door.notify()
        #expect(try await transactions(of: "alice", at: door).count == 2)
        #expect(try await transactions(of: "bob", at: door).isEmpty)
        // A second correction changes nothing.
        #expect(try await door.entitlements.setAppAccountToken(token, of: alice, isCorrection: true) == .set)
        #expect(try LedgerFile(door.garden.folder.file("ledger.sqlite")).check().problems == [])
    }
}
