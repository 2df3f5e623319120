import AppStore
import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing

/// The callers of `till serve`: API keys, users with tokens, accounts. The log has none of their secrets.
@Suite struct ServeAuthenticationTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `a running service refuses a key once it is revoked`() async throws {
        let key = try await till.makeKey("read")
        let server = try await ServeProcess(till)
        #expect(try await server.curl("/v1/products", key: key).status == 200)
        #expect(try await server.curl("/v1/users/alice/receipts", key: key, body: "{}").status == 403)
        let id = key.split(separator: "_")[1]
        #expect(try await till.run("keys", "revoke", String(id)).status == 0)
        #expect(try await server.curl("/v1/products", key: key).status == 401)
        let list = try await till.run("keys", "list").output
        #expect(list.contains(id))
        #expect(!list.contains(key))
        #expect(try await till.run("keys", "revoke", "none").status == 1)
    }

    @Test func `a user's token gives access until it expires`() async throws {
        let issuer = try TestIssuer()
        let keys = till.folder.file("keys.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        let server = try await ServeProcess(
            till, ["--jwt-issuer", TestIssuer.issuer, "--jwt-audience", TestIssuer.audience],
            environment: ["TILL_JWT_KEYS": keys.path])
        let now = Int64(Date.now.timeIntervalSince1970)
        #expect(try await server.curl("/v1/me/items", key: try issuer.token(at: now)).status == 200)
        let owned = try await till.run(
            arguments: ["owned", "anybody", "--server", server.url.absoluteString, "--json"],
            environment: ["TILL_TOKEN": try issuer.token(at: now)])
        #expect(try owned.decoded(List<OwnedItemResource>.self).elements.count == 2)
        #expect(try await server.curl("/v1/me/items", key: try issuer.token(at: now - 3601)).status == 401)
        #expect(try await server.curl("/v1/me/items", key: try TestIssuer().token(at: now)).status == 401)
    }

    @Test func `an account survives a kill, and its secrets are not logged`() async throws {
        let first = try await ServeProcess(till, ["--accounts", "--log-level", "trace"])
        let credentials = #"{"email":"mint@example.com","password":"correct horse"}"#
        let entered = try await first.curl("/v1/accounts", body: credentials)
        #expect(entered.status == 201)
        let tokens = try entered.decoded(EntranceResource.self).tokens
        let (access, refresh) = (tokens.accessToken, tokens.refreshToken)
        #expect(try await first.curl("/v1/sessions", body: credentials + "x").status == 400)
        #expect(await first.end(SIGKILL) == -SIGKILL)

        let second = try await ServeProcess(till, ["--accounts", "--log-level", "trace"])
        #expect(try await second.curl("/v1/me/items", key: access).status == 200)
        let renewal = "{\"refreshToken\":\"\(refresh)\"}"
        #expect(try await second.curl("/v1/sessions/renewal", body: renewal).status == 200)
        #expect(try await second.curl("/v1/sessions/renewal", body: renewal).code == "refreshTokenReused")
        #expect(await second.end(SIGTERM) == 0)
        for secret in ["mint", "correct horse", access, refresh] {
            #expect(try !first.log.contains(secret))
            #expect(try !second.log.contains(secret))
        }

        // A team with its own users leaves the setting off.
        let third = try await ServeProcess(till)
        #expect(try await third.curl("/v1/accounts", body: credentials).code == "featureOff")
        #expect(try await third.curl("/v1/me/items", key: access).code == "keyInvalid")
    }

    @Test func `each request is logged without its secrets`() async throws {
        let issuer = try TestIssuer()
        let keys = till.folder.file("keys.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--kill-after", "purchased")
        let receipt = try await till.run("receipt", "export", "--user", "alice").output
            .trimmingCharacters(in: .newlines)
        let key = try await till.makeKey()
        let server = try await ServeProcess(
            till,
            [
                "--jwt-issuer", TestIssuer.issuer, "--jwt-audience", TestIssuer.audience, "--jwt-keys", keys.path,
                "--log-level", "trace",
            ])
        let token = try issuer.token(for: "mallory", at: Int64(Date.now.timeIntervalSince1970))
        let body = "{\"receipt\":\"\(receipt)\"}"
        #expect(try await server.curl("/v1/users/alice/receipts", key: key, body: body).status == 200)
        #expect(try await server.curl("/v1/me/receipts", key: token, body: body).status == 409)
        #expect(try await server.curl("/v1/me/items", key: token + "x").status == 401)
        #expect(try await server.curl("/v1/users/alice/items", key: key + "x").status == 401)
        #expect(await server.end(SIGTERM) == 0)
        let log = try server.log
        let lines = log.split(separator: "\n").filter { $0.contains(" request") && $0.contains("route=") }
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { $0.contains("hb.request.id=") })
        #expect(lines.first?.contains("key=\(key.split(separator: "_")[1]) ") == true)
        #expect(lines.first?.contains("route=/v1/users/{user}/receipts status=200") == true)
        let parts = token.split(separator: ".")
        let secrets: [Substring] = [
            key.split(separator: "_", maxSplits: 2)[2], parts[1], parts[2], receipt.prefix(100), "mallory", "alice",
        ]
        for secret in secrets {
            #expect(!log.contains(secret))
        }
    }

    @Test func `refused requests of strangers have few log lines, and those of a back end have all`() async throws {
        let key = try await till.makeKey()
        let server = try await ServeProcess(till, [])
        for _ in 0..<40 {
            #expect(try await server.curl("/v1/users/alice/items", key: "unknown").status == 401)
            #expect(try await server.curl("/v1/unknown", key: key).status == 404)
            #expect(try await server.curl("/v1/users/alice/receipts", key: key, body: "{").status == 400)
        }
        #expect(await server.end(SIGTERM) == 0)
        let lines = try server.log.split(separator: "\n")
        #expect(lines.count { $0.contains("status=400") } == 40)
        // The requests may take longer than a minute.
        #expect((1..<40).contains(lines.count { $0.contains("status=401") || $0.contains("status=404") }))
    }
}
