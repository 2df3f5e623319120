import Foundation
import HTTPSupport
import PlayStore
import Proofs
import TestSupport
import Testing
import Vocabulary

/// `till serve` with a service account, beside a local Google Play in a process of its own.
@Suite struct GooglePlayServiceTests {
    private struct Purchases: Decodable {
        let purchases: [PlayPurchaseResource]
    }

    private struct Key: Decodable {
        let keyFile: String
    }

    @Test func `a service that is killed after a grant acknowledges the purchase when it starts again`() async throws {
        let (till, garden) = (try TillProcess(), try TestGarden())
        let catalog = ["--catalog", garden.folder.folder("catalog").path]
        let play = try await ServeProcess(till, catalog, command: "play")
        let account = try await till.run("play", "keys", "--url", play.url.absoluteString, "--json").decoded(Key.self)
        let settings =
            ["--google-service-account", account.keyFile, "--google-play-url", play.url.absoluteString] + catalog
        let key = try await till.makeKey()
        let bought = try await till.run(
            arguments: ["play", "buy", "garden.gate", "--account", "alice", "--json"] + catalog
        ).decoded(PlayPurchaseResource.self)
        let token = try GooglePlayToken(purchaseToken: bought.purchaseToken)

        let first = try await ServeProcess(till, settings)
        let answer = try await first.curl("/v1/users/alice/transactions", key: key, body: token.json.compactText)
        #expect(try answer.decoded(Redemption.self).outcome == .granted)
        #expect(await first.end(SIGKILL) != 0)

        let second = try await ServeProcess(till, settings)
        try await expectEventually {
            try await till.run("play", "purchases", "--json").decoded(Purchases.self).purchases
                .allSatisfy(\.isAcknowledged)
        }
        let file = till.folder.file("token.json")
        try Data(token.json.compactBytes).write(to: file)
        let again = try await till.run(
            arguments: [
                "receipt", "redeem", file.path, "--user", "alice", "--server", second.url.absoluteString,
            ] + catalog, environment: ["TILL_API_KEY": key])
        #expect(again.status == 0 && again.output.contains("redeemed before"), "\(again.error)")
        #expect(try second.log.contains(bought.purchaseToken) == false)
        #expect(await second.end(SIGTERM) == 0)
        #expect(await play.end(SIGTERM) == 0)
    }

    @Test func `a token needs a service with a service account`() async throws {
        let till = try TillProcess()
        let file = till.folder.file("token.json")
        try Data(try GooglePlayToken(purchaseToken: "abc").json.compactBytes).write(to: file)
        let refused = try await till.run("receipt", "redeem", file.path, "--user", "alice")
        #expect(refused.status == 1)
        #expect(refused.error.contains("service account"), "\(refused.error)")
    }

    @Test(arguments: [
        ("--google-play-url http://127.0.0.1:1", "google-service-account"), ("ACCOUNT", "google-play-url"),
        ("ACCOUNT --google-play-url http://127.0.0.1:1", "nowhere.json"),
        ("ACCOUNT --accept google/Test --google-play-url http://127.0.0.1:1", "left out"),
        ("ACCOUNT --accept apple/Sandbox", "google-play-url"),
        ("ACCOUNT --google-play-url http://example.com", "https"),
        ("--google-notifications-audience till", "google-service-account"),
        ("ACCOUNT --google-notifications-audience till", "google-notifications-email"),
        ("ACCOUNT --google-notifications-email a@b.c", "google-notifications-audience"),
        ("ACCOUNT --google-certificates-url http://127.0.0.1:1", "google-notifications-audience"),
        ("ACCOUNT PUSH --google-certificates-url http://example.com/certs", "https"),
        ("ACCOUNT PUSH --google-certificates-url keys.json", "https"),
        ("--google-refuse-consumed-before 2026-10-31", "google-service-account"),
        ("--google-refuse-consumed-before soon", "2026-10-31T09:00:00Z"),
    ])
    func `inconsistent Google Play settings are refused at the start`(arguments: String, named: String) async throws {
        let account = "--google-service-account nowhere.json"
        let push = "--google-notifications-audience till --google-notifications-email a@b.c"
        let arguments = arguments.replacing("ACCOUNT", with: account).replacing("PUSH", with: push).split(
            separator: " "
        ).map(String.init)
        let result = try await TillProcess(hasKeys: false).run(arguments: ["serve"] + arguments)
        #expect(result.status == 1)
        #expect(result.error.contains(named), "\(result.error)")
    }

    @Test func `a file that is no key of a service account is refused at the start`() async throws {
        let till = try TillProcess()
        let file = till.folder.file("account.json")
        try Data(#"{"type":"authorized_user"}"#.utf8).write(to: file)
        let result = try await till.run(
            "serve", "--port", "0", "--google-service-account", file.path, "--google-play-url", "http://127.0.0.1:1")
        #expect(result.status == 1)
        #expect(result.error.contains("service_account"), "\(result.error)")
    }
}
