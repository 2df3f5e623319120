import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Reconciliation of a service that has received no notifications with a store that has kept them.
@Suite struct ReconcileTests {
    @Test func `reconciliation applies the notifications that the service missed`() async throws {
        let backEnd = try TillProcess(hasKeys: false)
        let service = try await ServeProcess(backEnd)
        let key = try await backEnd.run("keys", "make", "shop").output.trimmingCharacters(in: .whitespacesAndNewlines)
        let token = try await service.accountToken(of: "alice", key: key)

        let shop = try TillProcess()
        let store = try await ServeProcess(
            shop, ["--notifications-url", "http://127.0.0.1:1/nobody"], command: "store")
        for root in ["receipts", "transactions"] {
            let file = shop.folder.folder("data/store/keys").appending(path: "\(root)-root.cer").path
            #expect(try await backEnd.run("trust", "add", file).status == 0)
        }
        let made = try await shop.run("store", "keys", "--json").decoded(MadeStoreKey.self)
        let options = [
            "--app-store-key", made.privateKey, "--app-store-key-id", made.keyId,
            "--app-store-issuer-id", made.issuerId, "--url", store.url.absoluteString, "--json",
        ]
        func buy(_ product: String, _ more: String...) async throws -> String {
            let bought = try await shop.run(
                arguments: ["store", "buy", "com.memolease.sesac1.\(product)", "--account", "a", "--json"] + more)
            return try #require(try bought.decoded(QueuedTransaction.self).transactionId)
        }
        func reconcile(_ more: String...) async throws -> [String: [String: Int]] {
            let result = try await backEnd.run(arguments: ["reconcile"] + options + more)
            #expect(result.status == 0, "\(result.error)")
            return try result.decoded()
        }
        func items() async throws -> [Item] {
            try await service.curl("/v1/users/alice/items", key: key).decoded(List<OwnedItemResource>.self).elements
                .map(\.item)
        }

        let first = try await buy("sprout1", "--app-account-token", token)
        #expect(try await reconcile() == ["notifications": ["granted": 1]])
        #expect(try await items().contains(Item(collection: "sprout", number: 1)))
        #expect(try await reconcile() == ["notifications": ["duplicate": 1]])
        // A purchase without an account token is parked, even from a customer's history: others may use the same account.
        _ = try await buy("background2")
        #expect(try await shop.run("store", "refund", first).status == 0)
        let both = try await reconcile("--customers")
        #expect(both["notifications"] == ["duplicate": 1, "parked": 1, "revoked": 1])
        #expect(both["transactions"] == ["parked": 1, "recorded": 1])
        #expect(try await !items().contains(Item(collection: "background", number: 2)))
        #expect(try await !items().contains(Item(collection: "sprout", number: 1)))

        let stranger = try await backEnd.run(
            arguments: ["reconcile"] + options + ["--app-store-issuer-id", UUID().uuidString])
        #expect(stranger.status == 1)
        #expect(stranger.error.contains("does not accept the key"))
        #expect(await store.end(SIGTERM) == 0)
        let alone = try await backEnd.run(arguments: ["reconcile"] + options)
        #expect(alone.status == 1)
        #expect(alone.error.contains("does not answer"))
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a service with an App Store key reconciles by itself`() async throws {
        let shop = try TillProcess()
        let store = try await ServeProcess(
            shop, ["--notifications-url", "http://127.0.0.1:1/nobody"], command: "store")
        let backEnd = try TillProcess(hasKeys: false)
        let key = try await backEnd.run("keys", "make", "shop").output.trimmingCharacters(in: .whitespacesAndNewlines)
        for root in ["receipts", "transactions"] {
            let file = shop.folder.folder("data/store/keys").appending(path: "\(root)-root.cer").path
            #expect(try await backEnd.run("trust", "add", file).status == 0)
        }
        let made = try await shop.run("store", "keys", "--json").decoded(MadeStoreKey.self)
        let service = try await ServeProcess(
            backEnd,
            [
                "--app-store-key", made.privateKey,
                "--app-store-key-id", made.keyId,
                "--app-store-issuer-id", made.issuerId,
                "--app-store-url", store.url.absoluteString, "--reconcile-seconds", "1",
                "--refund-preference", "DECLINE",
            ])
        let token = try await service.accountToken(of: "alice", key: key)
        let bought = try await shop.run(
            "store", "buy", "com.memolease.sesac1.sprout1", "--account", "a", "--app-account-token", token)
        #expect(bought.status == 0)
        try await expectEventually {
            let items = try await service.curl("/v1/users/alice/items", key: key)
            return try items.decoded(List<OwnedItemResource>.self).elements.map(\.item).contains(
                Item(collection: "sprout", number: 1))
        }
        #expect(await store.end(SIGTERM) == 0)
        try await expectEventually { try service.log.contains("code=appStoreUnreachable") }
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test(arguments: [
        ("--app-store-key k", "app-store-key-id"), ("--reconcile-seconds 5", "app-store-key"),
        ("--refund-preference NONE", "app-store-key"), ("KEY", "app-store-url"),
        ("KEY --app-store-url http://example.com", "https"),
        ("KEY --app-store-url https://example.com/x", "without a path"),
        ("KEY --app-store-url https://example.com --refund-preference LATER", "GRANT_PRORATED"),
        ("KEY --app-store-url https://example.com --sample-content-provided", "refund-preference"),
        ("KEY --app-store-url https://example.com", "nowhere.p8"),
        ("KEY --app-store-url https://example.com --reconcile-seconds 99999999", "reconcile-seconds"),
    ])
    func `inconsistent App Store settings are refused at the start`(arguments: String, named: String) async throws {
        let key = "--app-store-key nowhere.p8 --app-store-key-id k --app-store-issuer-id i"
        // A value that no service accepts is wrong usage.
        let isWrongValue = arguments.contains("LATER") || arguments.contains("99999999")
        let arguments = arguments.replacing("KEY", with: key).split(separator: " ").map(String.init)
        let result = try await TillProcess(hasKeys: false).run(arguments: ["serve"] + arguments)
        #expect(result.status == (isWrongValue ? 64 : 1))
        #expect(result.error.contains(named), "\(result.error)")
    }

    @Test(arguments: [
        ["--accept", "local/Sandbox"], ["--url", "http://example.com"], ["--url", "nowhere"],
        ["--url", "https://example.com", "--days", "0"],
    ])
    func `wrong usage ends with status 64`(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        let common = ["reconcile", "--app-store-key", "k", "--app-store-key-id", "i", "--app-store-issuer-id", "i"]
        #expect(try await till.run(arguments: common + arguments).status == 64)
    }
}
