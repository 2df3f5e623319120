import AppStore
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Purchases of the local Google Play, redeemed by the service of the same data directory.
@Suite struct PlayPurchaseTests {
    private struct Trusted: Decodable {
        struct Key: Decodable {
            let realm: Realm
            let name: String
            let bundleId: String?
        }

        let trusted: [Key]
    }

    private let till: TillProcess
    private let garden: TestGarden
    private let catalog: [String]

    /// The garden's bundle identifier has a hyphen, which no package name has.
    init() throws {
        till = try TillProcess()
        garden = try TestGarden(bundleIdentifier: "com.example.my-garden")
        catalog = ["--catalog", garden.folder.folder("catalog").path]
    }

    /// The signed purchase that a command of the Play prints.
    private func signed(_ arguments: String...) async throws -> String {
        let bought = try await till.run(arguments: ["play"] + arguments + catalog)
        #expect(bought.status == 0, "\(bought.error)")
        return bought.output
    }

    private func localPlayKeys() async throws -> [Trusted.Key] {
        try await till.run("trust", "list", "--json").decoded(Trusted.self).trusted.filter { $0.realm == .localPlay }
    }

    @Test func `commands redeem a purchase without a server`() async throws {
        let file = till.folder.file("purchase.json").path
        try Data(try await signed("buy", "garden.gate", "--account", "alice").utf8).write(to: URL(filePath: file))
        // A command without the catalog leaves the app of the key as it is.
        #expect(try await till.run("play", "purchases").status == 0)
        let keys = try await localPlayKeys()
        #expect(keys.map(\.name) == ["com.example.my_garden"] && keys.map(\.bundleId) == ["com.example.my-garden"])
        let valid = try await till.run("receipt", "validate", file)
        #expect(valid.status == 0 && valid.output.contains("origin: localPlay/Production"), "\(valid.output)")
        for outcome in [Redemption.Outcome.granted, .unchanged] {
            let redeemed = try await till.run(
                arguments: ["receipt", "redeem", file, "--user", "alice", "--json"] + catalog)
            let redemption = try redeemed.decoded(Redemption.self)
            #expect(redemption.outcome == outcome && redemption.transactions.count == 1, "\(redeemed.error)")
            #expect(redemption.items.contains(Item(collection: "gate", number: 1)))
        }
    }

    @Test func `a service redeems purchases of the Play, and grants each to one user`() async throws {
        let gate = try await signed("buy", "garden.gate", "--account", "alice")
        let monthly = try await signed("subscribe", "garden.basic.monthly", "--account", "alice")
        let pending = try await signed("buy", "garden.seeds", "--account", "alice", "--pending")
        let key = try await till.makeKey()
        let service = try await ServeProcess(till, catalog)
        func redeem(_ purchase: String, for user: String = "alice") async throws -> ServeProcess.Answer {
            try await service.curl("/v1/users/\(user)/transactions", key: key, body: purchase)
        }
        #expect(try await redeem(gate).decoded(Redemption.self).outcome == .granted)
        #expect(try await redeem(gate).decoded(Redemption.self).outcome == .unchanged)
        let refused = try await redeem(gate, for: "bob")
        #expect(refused.status == 409 && refused.code == "ownedByAnotherUser")
        #expect(try await redeem(monthly).code == "subscriptionStateUnknown")
        #expect(try await redeem(pending).code == "purchasePending")
        let completed = try await signed("complete", "3")
        #expect(try await redeem(completed).decoded(Redemption.self).outcome == .granted)

        let items = try await service.curl("/v1/users/alice/items", key: key).decoded(List<OwnedItemResource>.self)
        #expect(items.elements.contains { $0.item == Item(collection: "gate", number: 1) })
        let transactions = try await service.curl("/v1/users/alice/transactions", key: key)
            .decoded(List<TransactionResource>.self).elements
        #expect(transactions.count == 2 && transactions.allSatisfy { $0.origin == .localPlayProduction })
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a running Play hands over the key of a new app`() async throws {
        let play = try await ServeProcess(
            till, ["--sandbox-key", "the-sandbox-key-of-the-tests"] + catalog, command: "play")
        let added = try await play.curl(
            "/sandbox/v1/apps/com.example.other", key: "the-sandbox-key-of-the-tests", options: ["--request", "PUT"])
        #expect(added.status == 200)
        #expect(try await localPlayKeys().map(\.name) == ["com.example.my_garden", "com.example.other"])
        #expect(await play.end(SIGTERM) == 0)
    }
}
