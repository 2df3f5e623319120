import Entitlements
import Foundation
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A stranger with the public key does anything at the doors. Nobody loses anything, and the stranger gets nothing of others.
@Suite struct StrangerPropertyTests {
    private static let uuid = "9B2E6C1A-77D0-4F3B-8C55-0A1B2C3D4E5F"
    /// The ids of the customers. Anybody can guess those of the first two.
    private static let victims = ["alice", uuid, "$RCAnonymousID:" + String(repeating: "7e", count: 16)]
    private static let guessed = victims.prefix(2)

    private static func token(of id: String) -> UUID? { UsernameTokens.tokens(of: id).last }

    private static func user(_ id: String) throws -> User { try #require(CustomerIdentifier(id)).user }

    /// What the customers and the stranger have bought at the store.
    private final class Story {
        let door: DoorGarden
        let dice: Dice
        private var proofs: [String: [(identifier: String, product: String, proof: String)]] = [:]
        private(set) var spent: [String: Int] = [:]
        /// The stranger's own ids.
        let ids: [String]

        init(_ door: DoorGarden, seed: UInt64) {
            self.door = door
            dice = Dice(seed: seed)
            let anonymous = (0..<4).map { "$RCAnonymousID:" + String(repeating: "\($0)a", count: 16) }
            let spellings = StrangerPropertyTests.guessed.flatMap { id in
                [id.lowercased(), id.capitalized] + UsernameTokens.tokens(of: id).map(\.uuidString)
            }
            ids = (anonymous + spellings + ["mallory"]).filter { !StrangerPropertyTests.victims.contains($0) }
        }

        func bought(by account: String) -> [(identifier: String, product: String, proof: String)] {
            proofs[account] ?? []
        }

        /// Buys a product with a token.
        func buy(_ account: String, token: UUID?) throws {
            let products = ["garden.gate", "garden.season", "garden.seeds", "garden.seeds", "garden.premium.monthly"]
            guard let product = dice.pick(products) else { return }
            // The store refuses a second subscription of a running one.
            guard let payment = try? door.garden.buy(product, appAccountToken: token, account: account),
                let purchase = payment.purchase
            else { return }
            proofs[account, default: []].append(
                (
                    purchase.transactionIdentifier, product,
                    try door.garden.store.signedTransaction(payment.identifier)
                ))
        }

        /// Sends a proof at one of the doors.
        @discardableResult
        func present(_ proof: String, _ product: String, as id: String?, atCordova: Bool) async throws -> Int {
            guard let id, !atCordova else {
                let obfuscated = id.flatMap { StrangerPropertyTests.token(of: $0)?.uuidString }
                let body = CordovaLifeTests.body(proof, username: id, obfuscated: obfuscated)
                let answer = try await door.send(.post, CordovaMiddleware.path, body)
                return answer["ok"] == .bool(true) ? 200 : 409
            }
            return try await door.redeem(proof, of: id, product: product).status
        }

        func spend(_ amount: Int, of id: String) async throws {
            let service = door.entitlements
            let spending = service.newSpending(of: amount, from: "seeds", reason: "planted", by: "key")
            do {
                _ = try await service.spend(spending, for: StrangerPropertyTests.user(id))
                spent[id, default: 0] += amount
            } catch is BalanceError {}
        }

        /// A step of the stranger.
        func strangerStep() async throws {
            let everybody = ids + StrangerPropertyTests.guessed
            guard let id = dice.pick(ids), let other = dice.pick(everybody) else { return }
            switch dice.number(below: 8) {
            case 0, 1:
                let token = dice.happens(70) ? dice.pick(everybody).flatMap(StrangerPropertyTests.token) : nil
                try buy("mallory", token: token)
            case 2, 3:
                guard let own = dice.pick(bought(by: "mallory")) else { return }
                let presenter = dice.happens(20) ? nil : dice.happens(30) ? other : id
                try await present(own.proof, own.product, as: presenter, atCordova: dice.happens(50))
            case 4, 5: _ = try await door.logIn(id, as: other)
            case 6:
                guard try await !isVictim(id) else { return }
                if dice.happens(50) { _ = try await door.alias(id, as: other) } else { try await spend(10, of: id) }
            default:
                guard let own = dice.pick(bought(by: "mallory")) else { return }
                _ = try? door.garden.store.refund(own.identifier)
                try await door.notify()
            }
        }

        /// A step of a customer.
        func victimStep() async throws {
            guard let id = dice.pick(StrangerPropertyTests.victims) else { return }
            switch dice.number(below: 4) {
            case 0: try buy(id, token: StrangerPropertyTests.token(of: id))
            case 1: try await door.notify()
            case 2:
                guard let own = dice.pick(bought(by: id)) else { return }
                #expect(
                    try await present(own.proof, own.product, as: id, atCordova: dice.happens(50)) == 200, "\(id)")
            default:
                // A customer spends no more than the own purchases: the rest may be refunded.
                let own = Set(bought(by: id).filter { $0.product == "garden.seeds" }.map(\.identifier))
                let redeemed = try await transactions(of: id).filter { own.contains($0.transactionIdentifier) }
                if 10 * redeemed.count - spent[id, default: 0] >= 5 { try await spend(5, of: id) }
            }
        }

        func transactions(of id: String) async throws -> [RedeemedTransaction] {
            try await door.entitlements.transactions(of: StrangerPropertyTests.user(id), before: nil, limit: 999)
        }

        /// True if an id leads to a customer who is not the stranger, because the stranger has logged in as this customer.
        func isVictim(_ id: String) async throws -> Bool {
            let user = try await door.entitlements.history(of: StrangerPropertyTests.user(id))?.user
            return StrangerPropertyTests.victims.contains { CustomerIdentifier($0)?.user == user }
        }
    }

    @Test(arguments: 0..<12) func `a stranger with the public key takes nothing from anybody`(seed: UInt64) async throws
    {
        let policies: [OwnershipPolicy] = [.keep, .transfer(pauseSeconds: 0), .transferIfInactive(pauseSeconds: 0)]
        let door = try await DoorGarden(policy: policies[Int(seed % 3)])
        let story = Story(door, seed: seed)
        for _ in 0..<60 {
            if story.dice.happens(70) { try await story.strangerStep() } else { try await story.victimStep() }
            if story.dice.happens(5) { _ = try door.garden.store.advance(seconds: 86_400 * 20) }
        }
        try await door.notify()
        for id in Self.victims {
            for own in story.bought(by: id) {
                #expect(try await story.present(own.proof, own.product, as: id, atCordova: true) == 200, "\(id)")
            }
        }
        let all = Set(Self.victims.flatMap { id in story.bought(by: id).map(\.identifier) })
        for id in Self.victims {
            let owned = try await Set(story.transactions(of: id).map(\.transactionIdentifier))
            let own = story.bought(by: id)
            #expect(owned.isSuperset(of: own.map(\.identifier)), "\(id)")
            let paid = 10 * own.count(where: { $0.product == "garden.seeds" }) - story.spent[id, default: 0]
            let seeds = try await door.entitlements.balances(of: Self.user(id)).first { $0.balance == "seeds" }
            #expect(seeds?.amount ?? 0 >= paid, "\(id)")
            #expect(
                try await door.entitlements.ledger.read { try $0.aliases(of: Self.user(id)) }.count
                    <= UserRecords.maximumAliases)
        }
        for id in story.ids {
            guard try await !story.isVictim(id) else { continue }
            let originals = try await Set(story.transactions(of: id).map(\.originalTransactionIdentifier))
            #expect(originals.isDisjoint(with: all), "\(id)")
        }
        #expect(try LedgerFile(door.garden.folder.file("ledger.sqlite")).check().problems == [])
    }
}
