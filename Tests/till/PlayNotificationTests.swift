import AppStore
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A local Google Play that pushes its notifications to a service in another process, and what the service has missed.
@Suite struct PlayNotificationTests {
    private struct Key: Decodable {
        let keyFile: String
    }

    private static let sandboxKey = "the-sandbox-key-of-the-tests"

    @Test func `a purchase and its refund arrive at the service, and a missed refund is found`() async throws {
        let (till, garden) = (try TillProcess(), try TestGarden())
        let catalog = ["--catalog", garden.folder.folder("catalog").path]
        let play = try await ServeProcess(till, ["--sandbox-key", Self.sandboxKey] + catalog, command: "play")
        let account = try await till.run("play", "keys", "--url", play.url.absoluteString, "--json").decoded(Key.self)
        let key = try await till.makeKey()
        let settings = [
            "--google-service-account", account.keyFile, "--google-play-url", play.url.absoluteString,
            "--google-notifications-audience", "till",
            "--google-notifications-email", PushSettings.standardEmail,
            "--google-certificates-url", play.url.absoluteString + "/oauth2/v1/certs",
        ]
        let service = try await ServeProcess(till, settings + catalog)
        let endpoint = service.url.absoluteString + "/v1/notifications/google"
        let push = try await play.curl(
            "/sandbox/v1/notifications/push", key: Self.sandboxKey,
            body: #"{"endpoint":"\#(endpoint)","audience":"till"}"#, options: ["--request", "PUT"])
        #expect(push.status == 200)
        let token = try await service.accountToken(of: "alice", key: key)
        func buy(_ product: String) async throws -> Int64 {
            let bought = try await till.run(
                arguments: [
                    "play", "buy", product, "--account", "alice", "--obfuscated-account", token, "--json",
                ] + catalog)
            return try bought.decoded(PlayPurchaseResource.self).number
        }
        func items() async throws -> [Item] {
            try await service.curl("/v1/users/alice/items", key: key).decoded(List<OwnedItemResource>.self).elements
                .map(\.item)
        }
        let gate = Item(collection: "gate", number: 1)

        let number = try await buy("garden.gate")
        try await expectEventually { try await items().contains(gate) }
        #expect(try await till.run("play", "refund", "\(number)").status == 0)
        try await expectEventually { try await !items().contains(gate) }
        let forged = try await service.curl("/v1/notifications/google", key: "x.y.z", body: "{}")
        #expect(forged.status == 401)

        let again = try await buy("garden.gate")
        try await expectEventually { try await items().contains(gate) }
        #expect(await service.end(SIGTERM) == 0)
        #expect(try await till.run("play", "refund", "\(again)").status == 0)
        let reconciled = try await till.run(
            arguments: [
                "reconcile", "--google-service-account", account.keyFile, "--url", play.url.absoluteString, "--json",
            ] + catalog)
        #expect(reconciled.status == 0, "\(reconciled.error)")
        let reports = try reconciled.decoded([String: [String: Int]].self)
        #expect(reports["voided purchases"]?["revoked"] == 1)
        // A purchase that was paid by the last answer is asked about once more.
        #expect(reports["silent purchases"] == ["recorded": 1])
        #expect(await play.end(SIGTERM) == 0)
    }

    @Test(arguments: [
        ["--google-service-account", "a.json", "--app-store-key", "k"],
        ["--google-service-account", "a.json", "--url", "https://example.com", "--customers"],
        ["--google-service-account", "a.json", "--accept", "local/Sandbox"],
        ["--google-service-account", "a.json"],
        ["--google-service-account", "a.json", "--accept", "google/Production", "--url", "https://example.com"],
        ["--app-store-key", "k"],
        ["--app-store-key", "k", "--app-store-key-id", "i", "--app-store-issuer-id", "i", "--package", "a.b"], [],
    ])
    func `wrong usage ends with status 64`(arguments: [String]) async throws {
        #expect(try await TillProcess(hasKeys: false).run(arguments: ["reconcile"] + arguments).status == 64)
    }
}
