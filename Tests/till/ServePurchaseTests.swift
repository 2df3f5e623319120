import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Purchases of the local App Store, redeemed by `till serve`.
@Suite struct ServePurchaseTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `a redeemed receipt survives a kill of the service`() async throws {
        // The purchase runs without the service, so nothing is redeemed yet. The command trusts the store's root.
        let bought = try await till.run(
            "buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--kill-after", "purchased")
        #expect(bought.signal == SIGKILL)
        let receipt = try await till.run("receipt", "export", "--user", "alice").output
            .trimmingCharacters(in: .newlines)
        let key = try await till.makeKey()
        let first = try await ServeProcess(till)
        let answer = try await first.curl(
            "/v1/users/alice/receipts", key: key, body: "{\"receipt\":\"\(receipt)\"}")
        #expect(answer.status == 200)
        #expect(try answer.decoded(Redemption.self).outcome == .granted)
        #expect(await first.end(SIGKILL) == -SIGKILL)

        let second = try await ServeProcess(till)
        let again = try await second.curl(
            "/v1/users/alice/receipts", key: key, body: "{\"receipt\":\"\(receipt)\"}")
        #expect(try again.decoded(Redemption.self).outcome == .unchanged)
        let list = try await second.curl("/v1/users/alice/transactions", key: key).decoded(
            List<TransactionResource>.self)
        #expect(list.elements.count == 1)
        #expect(await second.end(SIGTERM) == 0)
    }

    @Test func `commands with --server use a running service`() async throws {
        // The service has its own data directory and trusts the store's roots.
        let service = try TillProcess(hasKeys: false)
        for root in ["receipts-root", "transactions-root"] {
            let added = try await service.run("trust", "add", till.folder.file("data/store/keys/\(root).cer").path)
            #expect(added.status == 0)
        }
        let made = try await service.run("keys", "make", "app", "--json")
        let key = ["TILL_API_KEY": try made.decoded(MadeKey.self).key]
        let server = try await ServeProcess(service)
        let address = server.url.absoluteString

        let bought = try await till.run(
            arguments: ["buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--server", address, "--json"],
            environment: key)
        #expect(bought.status == 0, "\(bought.error)")
        #expect(try bought.decoded(List<OwnedItemResource>.self).elements.count == 3)
        let owned = try await till.run(
            arguments: ["owned", "alice", "--server", address + "/"], environment: key)
        #expect(owned.output.contains("Sturdy Sprout"))
        // The app's own ledger has no part of it.
        #expect(!(try await till.run("owned", "alice")).output.contains("Sturdy Sprout"))

        let products = try await till.run(
            arguments: ["products", "--collection", "sprout", "--server", address, "--json"], environment: key)
        let own = try await till.run("products", "--collection", "sprout", "--json").output
        #expect(products.output == own)
        let receipt = till.folder.file("alice.receipt").path
        try await till.run("receipt", "export", "--user", "alice", "--out", receipt)
        let valid = try await till.run(
            arguments: ["receipt", "validate", receipt, "--server", address, "--json"], environment: key)
        let ownVerdict = try await till.run("receipt", "validate", receipt, "--json").output
        #expect(valid.output == ownVerdict)
        try Data("AAAA".utf8).write(to: URL(filePath: receipt))
        let invalid = try await till.run(
            arguments: ["receipt", "validate", receipt, "--server", address, "--json"], environment: key)
        #expect(invalid.status == 1)
        let refusal = try invalid.decoded(InvalidProof.self)
        #expect(refusal.reason == "encodingInvalid")
        #expect(refusal.step == "encoding")

        let unknown = try await till.run(
            arguments: ["owned", "alice", "--server", address], environment: ["TILL_API_KEY": "till_x_y"])
        #expect(unknown.status == 1)
        #expect(unknown.error.contains("API key"))
        #expect(!unknown.error.contains("till_x_y"))
        let without = try await till.run(
            arguments: ["owned", "alice", "--server", address], environment: ["TILL_API_KEY": ""])
        #expect(without.error.contains("TILL_API_KEY"))
        #expect(try await till.run("owned", "alice", "--server", "ftp://x").status == 64)
    }
}
