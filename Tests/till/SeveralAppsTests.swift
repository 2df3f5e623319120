import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A service of two apps, each with a store of its own, as processes.
@Suite struct SeveralAppsTests {
    private static let garden = TestGarden.bundleIdentifier

    /// The store of an app, and the options that lead a service to it.
    private struct Shop {
        let till: TillProcess
        let store: ServeProcess

        init(selling options: [String], trustedBy backEnd: TillProcess) async throws {
            till = try TillProcess()
            store = try await ServeProcess(
                till, ["--notifications-url", "http://127.0.0.1:1/nobody"] + options, command: "store")
            for root in ["receipts", "transactions"] {
                let file = till.folder.folder("data/store/keys").appending(path: "\(root)-root.cer").path
                #expect(try await backEnd.run("trust", "add", file).status == 0)
            }
        }

        /// The settings of the app, with the key of its store.
        func settings(_ app: String, catalog: String) async throws -> String {
            let made = try await till.run("store", "keys", "--json").decoded(MadeStoreKey.self)
            return """
                {"bundle-id": "\(app)", "catalog": "\(catalog)", "app-store-key": "\(made.privateKey)",
                "app-store-key-id": "\(made.keyId)", "app-store-issuer-id": "\(made.issuerId)",
                "app-store-url": "\(store.url.absoluteString)", "jwt-audience": "\(app)"}
                """
        }

        func buy(_ product: String, for token: String) async throws {
            let bought = try await till.run(
                "store", "buy", product, "--account", "a", "--app-account-token", token, "--json")
            #expect(bought.status == 0, "\(bought.error)")
        }
    }

    @Test func `what was missed in each app is asked for with its key`() async throws {
        let backEnd = try TillProcess(hasKeys: false)
        let catalog = try TestGarden().folder
        let seed = try await Shop(selling: [], trustedBy: backEnd)
        let garden = try await Shop(
            selling: ["--products", TestGarden.file.path, "--bundle-id", Self.garden], trustedBy: backEnd)
        let issuer = try TestIssuer()
        let keys = backEnd.folder.file("keys.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        let apps = [
            try await seed.settings("com.memolease.sesac1", catalog: Project.products.path),
            try await garden.settings(Self.garden, catalog: catalog.folder("catalog").path),
        ]
        let settings = """
            {"apps": [\(apps.joined(separator: ","))], "reconcile-seconds": 1, "jwt-issuer": "\(TestIssuer.issuer)",
            "jwt-keys": "\(keys.path)"}
            """
        try Data(settings.utf8).write(to: backEnd.folder.file("till.json"))
        let printed = try await backEnd.run("serve", "--config", "till.json", "--print-configuration")
        try Data(printed.output.utf8).write(to: backEnd.folder.file("printed.json"))
        let again = try await backEnd.run("serve", "--config", "printed.json", "--print-configuration")
        #expect(again.output == printed.output)
        #expect(printed.status == 0)

        let service = try await ServeProcess(backEnd, ["--config", "printed.json"])
        let key = try await backEnd.run("keys", "make", "shop").output.trimmingCharacters(in: .whitespacesAndNewlines)
        let token = try await service.accountToken(of: "alice", key: key)
        try await seed.buy("com.memolease.sesac1.sprout1", for: token)
        try await garden.buy("garden.gate", for: token)
        let expected = [("gate", 1), ("sprout", 1)].map { Item(collection: $0, number: $1) }
        try await expectEventually {
            let owned = try await service.curl("/v1/users/alice/items", key: key).decoded(List<OwnedItemResource>.self)
                .elements
            return expected.allSatisfy(owned.map(\.item).contains)
        }
        let appKey = try await backEnd.run("keys", "make", "garden", "--bundle-id", Self.garden).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let transactions = try await service.curl("/v1/users/alice/transactions", key: appKey)
            .decoded(List<TransactionResource>.self).elements
        #expect(transactions.map(\.productId) == ["garden.gate"])
        let listed = try await backEnd.run("keys", "list").output
        #expect(listed.contains(Self.garden))
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test(arguments: [
        (#"{"apps": []}"#, #"must be a list of objects"#),
        (#"{"apps": [7]}"#, #""apps[0]", which must be an object"#),
        (
            #"{"apps": [{"bundle-idd": "a"}]}"#,
            #"unknown setting "apps[0].bundle-idd". Did you mean "apps[0].bundle-id"?"#
        ),
        (#"{"apps": [{"catalog": "a"}]}"#, #""apps[0].bundle-id", which must be the bundle identifier of the app"#),
        (#"{"apps": [{"bundle-id": "a"}]}"#, #""apps[0].catalog", which must be the folder of the app's catalog"#),
        (#"{"apps": [{"bundle-id": "a", "catalog": "b", "app-apple-id": 0}]}"#, "the number of the app"),
        (
            #"{"apps": [{"bundle-id": "a", "catalog": "b", "app-store-key": "c"}]}"#,
            "set together with app-store-key-id"
        ),
        (#"{"apps": [{"bundle-id": "a", "catalog": "b", "app-store-url": "ftp://c"}]}"#, "an https address"),
        (#"{"apps": [{"bundle-id": "a", "catalog": "b"}], "catalog": "c"}"#, "left out beside apps"),
        (
            #"{"apps": [{"bundle-id": "a", "catalog": "b", "forward-notifications": "https://c.example/"}]}"#,
            #""apps[0].forward-notifications", which must be a list of texts"#
        ),
        (
            #"{"apps": [{"bundle-id": "a", "catalog": "b", "forward-notifications": ["http://c.example/"]}]}"#,
            #"`forward-notifications` of the app "a" must be a list of https URLs"#
        ),
        (
            #"{"apps": [{"bundle-id": "a", "catalog": "b", "forward-notifications": ["https://c.example/"]}], "#
                + #""forward-notifications": ["https://c.example/"]}"#,
            "No server may receive a notification twice."
        ),
    ])
    func `an app that is not configured well is named`(settings: String, sentence: String) async throws {
        let till = try TillProcess()
        try Data(settings.utf8).write(to: till.folder.file("till.json"))
        let result = try await till.run("serve", "--config", "till.json", "--print-configuration")
        #expect(result.status == 1)
        #expect(result.error.contains(sentence), "\(result.error)")
    }

    @Test func `a package of Google Play that two apps have is refused at the start`() async throws {
        let till = try TillProcess()
        let garden = try TestGarden()
        let settings = """
            {"apps": [{"bundle-id": "\(Self.garden)", "catalog": "\(garden.folder.folder("catalog").path)"},
            {"bundle-id": "com.memolease.sesac1", "catalog": "\(Project.products.path)"}]}
            """
        try Data(settings.utf8).write(to: till.folder.file("till.json"))
        let key = till.folder.file("play-key.txt")
        try Data(try PrivateKey.generateRSA().publicKey.informationText().utf8).write(to: key)
        let added = try await till.run(
            "trust", "add", key.path, "--package", Self.garden, "--bundle-id", "com.memolease.sesac1")
        #expect(added.status == 0, "\(added.error)")
        let account = try await till.run("play", "keys", "--json").decoded(MadeAccount.self).keyFile
        let result = try await till.run(
            "serve", "--config", "till.json", "--port", "0", "--accept", "google/Production",
            "--google-service-account", account)
        #expect(result.status == 1)
        #expect(result.error.contains(#"have the same package on Google Play, "\#(Self.garden)""#), "\(result.error)")
    }

    private struct MadeAccount: Decodable {
        let keyFile: String
    }

    @Test func `a catalog of another app is refused`() async throws {
        let till = try TillProcess()
        let settings = #"{"apps": [{"bundle-id": "com.example.other", "catalog": "\#(Project.products.path)"}]}"#
        try Data(settings.utf8).write(to: till.folder.file("till.json"))
        let result = try await till.run("serve", "--config", "till.json", "--port", "0")
        #expect(result.status == 1)
        #expect(result.error.contains(#"is of the app "com.memolease.sesac1", and apps says "com.example.other""#))
    }

    @Test func `every command sells from the catalog that it is told`() async throws {
        let till = try TillProcess()
        let garden = try TestGarden()
        let catalog = garden.folder.folder("catalog").path
        let products = try await till.run("products", "--catalog", catalog)
        #expect(products.output.contains("garden.gate"))
        #expect(!products.output.contains("sprout"))
        let bought = try await till.run(
            arguments: ["buy", "garden.gate", "--user", "alice"], environment: ["TILL_CATALOG": catalog])
        #expect(bought.status == 0, "\(bought.error)")
        let owned = try await till.run("owned", "alice", "--catalog", catalog)
        #expect(owned.status == 0)
        #expect(!owned.output.contains("balance"))
        let missing = try await till.run("products", "--catalog", "nowhere")
        #expect(missing.status == 1)
        #expect(missing.error.contains("nowhere"))
    }

    @Test func `a later command goes by the catalog that the local stores have sold, and says if it is gone`()
        async throws
    {
        let till = try TillProcess()
        let garden = try TestGarden()
        let catalog = garden.folder.folder("catalog")
        func sales(to user: String) async throws -> [SaleResource] {
            try await till.run("store", "sales", user, "--json").decoded(List<SaleResource>.self).elements
        }
        for (user, store) in [("alice", "app_store"), ("bob", "play_store")] {
            let bought = try await till.run(
                "buy", "garden.basic.monthly", "--user", user, "--store", store, "--catalog", catalog.path)
            #expect(bought.status == 0, "\(bought.error)")
        }
        // A store that does not sell the product ends the subscription in place of renewing it.
        #expect(try await till.run("store", "time", "--advance", "40d").status == 0)
        #expect(try await sales(to: "alice").count == 3)
        for store in ["app_store", "play_store"] {
            let bought = try await till.run("buy", "garden.seeds", "--user", "carol", "--store", store)
            #expect(bought.status == 0, "\(bought.error)")
        }
        #expect(try await till.run("products").output.contains("garden.gate"))
        // A command that only reads names a catalog for itself.
        let other = try await till.run("products", "--catalog", Project.products.path)
        #expect(other.output.contains("sprout") && !other.output.contains("garden"))
        #expect(try await till.run("products").output.contains("garden.gate"))
        #expect(try await till.run("store", "queue", "--catalog", Project.products.path).status == 0)
        #expect(try await till.run("products").output.contains("sprout"))

        #expect(try await till.run("store", "queue", "--catalog", catalog.path).status == 0)
        try FileManager.default.removeItem(at: catalog)
        let lost = try await till.run("store", "time", "--advance", "1d", "--json")
        #expect(lost.status == 1 && lost.code == "catalogInvalid")
        let file = till.folder.file("data/catalog").path
        #expect(
            lost.error.contains(catalog.path) && lost.error.contains("--catalog, or delete \(file)"), "\(lost.error)")
    }

    @Test func `a bought consumable is in the balances of the user`() async throws {
        let till = try TillProcess()
        let garden = try TestGarden()
        let catalog = ["--catalog", garden.folder.folder("catalog").path]
        let first = try await till.run(arguments: ["buy", "garden.seeds", "--user", "alice"] + catalog)
        #expect(first.output.hasSuffix("alice owns:\n  bed 0  (everybody's)\n  10 of the balance seeds\n"), "\(first)")
        let second = try await till.run(arguments: ["buy", "garden.seeds", "--user", "alice", "--json"] + catalog)
        #expect(try second.decoded(List<Credit>.self).elements == [Credit(balance: "seeds", amount: 20)])
        let resumed = try await till.run(arguments: ["resume", "--user", "alice"] + catalog)
        #expect(resumed.output.contains("\n  20 of the balance seeds\n"), "\(resumed)")
        let owned = try await till.run(arguments: ["owned", "alice"] + catalog)
        #expect(owned.output.hasSuffix("\n  20 of the balance seeds\n"), "\(owned)")
        let listed = try await till.run(arguments: ["owned", "alice", "--json"] + catalog)
        #expect(try listed.decoded(List<Credit>.self).elements == [Credit(balance: "seeds", amount: 20)])
        #expect(try await !till.run(arguments: ["owned", "bob"] + catalog).output.contains("balance"))
    }
}
