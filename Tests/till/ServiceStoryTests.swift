import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The real binary, called with curl over the socket, from a new data directory to its exit.
@Suite struct ServiceStoryTests {
    let till: TillProcess
    let chain: CertificateChain
    let key: String

    init() async throws {
        till = try TillProcess(hasKeys: false)
        chain = try TestChains.ellipticCurve.get()
        for chain in [chain, try TestChains.rsa.get()] {
            let file = till.folder.file("root.cer")
            try Data(chain.root.certificate.der).write(to: file)
            #expect(try await till.run("trust", "add", file.path).status == 0)
        }
        let made = try await till.run(
            "keys", "make", "story", "--scope", "read", "--scope", "redeem", "--scope", "grant", "--scope", "metrics",
            "--json")
        key = try made.decoded(MadeKey.self).key
    }

    private func payload(secondsLater: Int64 = 0, _ changes: [String: JSONValue?] = [:]) -> JSONObject {
        let date = TestProofs.signedAt.millisecondsSince1970 + secondsLater * 1000
        return TestProofs.transactionPayload(changing: changes.merging(["signedDate": .integer(date)]) { $1 })
    }

    private func redemption(_ payload: JSONObject) throws -> String {
        let signed = String(decoding: try TestProofs.transaction(payload, chain: chain), as: UTF8.self)
        return "{\"signedTransaction\":\"\(signed)\"}"
    }

    /// The items of a user, without the free items.
    private func items(of user: String, at server: ServeProcess) async throws -> [String] {
        let list = try await server.curl("/v1/users/\(user)/items", key: key).decoded(List<OwnedItemResource>.self)
        return list.elements.map(\.item).filter { $0.number > 0 }.map(\.description)
    }

    @Test func `the catalog has pages and languages, and an unchanged page is not sent again`() async throws {
        let server = try await ServeProcess(till)
        let path = "/v1/products?collection=background&sort=-price&pageSize=2"
        let first = try await server.curl(path, key: key, options: ["--header", "Accept-Language: ko"])
        #expect(first.field("Content-Language") == "ko")
        let list = try first.decoded(List<ProductResource>.self)
        #expect(list.elements.count == 2)
        let cursor = try #require(list.nextCursor)
        #expect(try await server.curl(path + "&cursor=\(cursor)", key: key).status == 200)
        let tag = try #require(first.field("ETag"))
        let again = try await server.curl(
            path, key: key, options: ["--header", "Accept-Language: ko", "--header", "If-None-Match: \(tag)"])
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
        #expect(try await server.curl("/v1/products/none", key: key).code == "productNotFound")
        #expect(try await server.curl("/v1/products?sort=taste", key: key).code == "parameterInvalid")
        #expect(try await server.curl("/v1/products", key: key, options: ["--request", "PATCH"]).status == 405)
        #expect(try await server.curl("/v1/product", key: key).status == 404)
        #expect(try await server.curl("/v1/products").status == 401)
        let description = try await server.curl("/openapi.json")
        #expect(description.status == 200)
        let paths = try description.decoded([String: JSONContent].self)["paths"]
        #expect(paths?["/v1/users/{user}/items"] != nil && paths?["/v1/user/shop/ios"] == nil)
        #expect(try await server.curl("/errors").status == 200)
    }

    @Test func `a purchase is redeemed once across a restart`() async throws {
        let body = try redemption(payload())
        let idempotency = ["--header", "Idempotency-Key: first"]
        let path = "/v1/users/alice/transactions"
        let first = try await ServeProcess(till)
        let granted = try await first.curl(path, key: key, body: body, options: idempotency)
        #expect(try granted.decoded(Redemption.self).outcome == .granted)
        #expect(granted.field("Idempotent-Replayed") == nil)
        #expect(await first.end(SIGTERM) == 0)

        let second = try await ServeProcess(till)
        let replayed = try await second.curl(path, key: key, body: body, options: idempotency)
        #expect(replayed.body == granted.body)
        #expect(replayed.field("Idempotent-Replayed") == "true")
        #expect(
            try await second.curl(path, key: key, body: "{\"signedTransaction\":\"x\"}", options: idempotency).code
                == "idempotencyKeyReused")
        let again = try await second.curl(path, key: key, body: body)
        #expect(try again.decoded(Redemption.self).outcome == .unchanged)
        #expect(try await second.curl("/v1/users/bob/transactions", key: key, body: body).code == "ownedByAnotherUser")
        // The app need not read an unchanged list again.
        let items = try await second.curl("/v1/users/alice/items", key: key)
        let tag = try #require(items.field("ETag"))
        let known = try await second.curl(
            "/v1/users/alice/items", key: key, options: ["--header", "If-None-Match: \(tag)"])
        #expect(known.status == 304)
        let metrics = try await second.curl("/metrics", key: key)
        let text = String(decoding: metrics.body, as: UTF8.self)
        #expect(text.contains("till_redemptions_total{outcome=\"unchanged\",code=\"\"} 1\n"))
        #expect(text.contains("till_redemptions_total{outcome=\"refused\",code=\"ownedByAnotherUser\"} 1\n"))
    }

    @Test func `a purchase with an account token is redeemed only for its user`() async throws {
        let server = try await ServeProcess(till)
        let token = UUID().uuidString.lowercased()
        let set = try await server.curl(
            "/v1/users/alice", key: key, body: "{\"appAccountToken\":\"\(token)\"}", options: ["--request", "PUT"])
        #expect(set.status == 200)
        let body = try redemption(payload(["appAccountToken": .string(token)]))
        let refused = try await server.curl("/v1/users/bob/transactions", key: key, body: body)
        #expect(refused.status == 409)
        #expect(refused.code == "appAccountTokenMismatch")
        #expect(try await server.curl("/v1/users/alice/transactions", key: key, body: body).status == 200)
        let account = try await server.curl("/v1/users/alice", key: key).decoded(AppAccountTokenResource.self)
        #expect(account.appAccountToken == token)
    }

    @Test func `refunds, grants and revocations change the user's items`() async throws {
        let server = try await ServeProcess(till)
        _ = try await server.curl("/v1/users/alice/transactions", key: key, body: try redemption(payload()))
        #expect(try await items(of: "alice", at: server) == ["sprout 1"])
        func notify(_ type: String, uuid: String = UUID().uuidString, _ payload: JSONObject) async throws -> String {
            let signed = try TestProofs.notification(
                type, uuid: uuid, about: payload, with: chain.leaf.key, chain: chain.certificates)
            let answer = try await server.curl("/v1/notifications/apple", body: "{\"signedPayload\":\"\(signed)\"}")
            return try answer.decoded(NotificationReceipt.self).outcome
        }
        let date = TestProofs.signedAt.millisecondsSince1970
        let refund = payload(secondsLater: 1, ["revocationDate": .integer(date), "revocationReason": .integer(1)])
        let uuid = UUID().uuidString
        #expect(try await notify("REFUND", uuid: uuid, refund) == "revoked")
        #expect(try await notify("REFUND", uuid: uuid, refund) == "duplicate")
        #expect(try await items(of: "alice", at: server) == [])
        let history = try await server.curl("/v1/users/alice/transactions", key: key).decoded(
            List<TransactionResource>.self)
        let transaction = try #require(history.elements.first)
        #expect(transaction.revocationReason == 1)
        #expect(try await notify("REFUND_REVERSED", payload(secondsLater: 2)) == "granted")
        #expect(try await items(of: "alice", at: server) == ["sprout 1"])

        let grant = try await server.curl(
            "/v1/users/alice/grants", key: key,
            body: "{\"item\":{\"collection\":\"background\",\"number\":2},\"reason\":\"Sorry\"}")
        #expect(grant.status == 201)
        #expect(try await items(of: "alice", at: server) == ["background 2", "sprout 1"])
        let identifier = try grant.decoded(GrantResource.self).grantId
        for (path, left) in [
            ("grants/\(identifier)", ["sprout 1"]), ("transactions/2000000000000001", []),
        ] as [(String, [String])] {
            let revoked = try await server.curl(
                "/v1/users/alice/\(path)/revocation", key: key, body: "{\"reason\":\"Why not\"}",
                options: ["--request", "PUT"])
            #expect(revoked.status == 200)
            #expect(try await items(of: "alice", at: server) == left)
        }
    }

    @Test func `a receipt of 80 kilobytes is redeemed, and a body that is too large is refused`() async throws {
        let server = try await ServeProcess(till)
        let purchases = (0..<280).map { TestProofs.purchase(transactionIdentifier: String(3_000_000 + $0)) }
        let receipt = try TestProofs.signed(TestProofs.receipt(purchases), chain: try TestChains.rsa.get())
        let text = Base64.encode(receipt)
        #expect(text.utf8.count > 80_000)
        let file = till.folder.file("body.json")
        try Data("{\"receipt\":\"\(text)\"}".utf8).write(
            to: file)
        let redeemed = try await server.curl("/v1/users/alice/receipts", key: key, body: "@\(file.path)")
        let redemption = try redeemed.decoded(Redemption.self)
        #expect(redemption.outcome == .granted)
        #expect(redemption.transactions.count == 280)
        try Data(String(repeating: "a", count: 12 << 20).utf8).write(to: file)
        let refused = try await server.curl("/v1/users/alice/receipts", key: key, body: "@\(file.path)")
        #expect(refused.status == 413)
        #expect(refused.code == "bodyTooLarge")
        let header = "X-Long: " + String(repeating: "a", count: 20_000)
        let long = try await server.curl("/v1/products", key: key, options: ["--header", header])
        #expect(long.status == 0 || (400..<500).contains(long.status))
    }

    @Test func `a refusal by the rate limit has the seconds to wait`() async throws {
        let server = try await ServeProcess(till, ["--requests-per-minute", "2"])
        let statuses = try await [
            server.curl("/v1/products", key: key).status, server.curl("/v1/products", key: key).status,
        ]
        #expect(statuses.allSatisfy { $0 == 200 })
        let refused = try await server.curl("/v1/products", key: key)
        #expect(refused.status == 429)
        let seconds = try #require(refused.field("Retry-After").flatMap(Int.init))
        #expect((1...30).contains(seconds))
    }

    @Test func `the service answers the requests under way before it stops`() async throws {
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        let body = try redemption(payload())
        try Data(body.utf8).write(to: till.folder.file("body"))
        try await Tool.run("mkfifo", ["go"], in: till.folder.url)
        // The client sends the head at once, and the body after a line in `go`.
        let script = """
            exec 3<>/dev/tcp/127.0.0.1/\(port)
            printf 'POST /v1/users/alice/transactions HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer %s\\r\\n' '\(key)' >&3
            printf 'Content-Length: \(body.utf8.count)\\r\\n\\r\\n' >&3
            read -r line <go
            cat body >&3
            timeout 25 cat <&3 >answer
            """
        async let sending: Void = Tool.run("bash", ["-c", script], in: till.folder.url)
        // The test waits until the service counts that request besides the one for the metrics.
        var inFlight = ""
        for _ in 0..<1000 where !inFlight.contains("till_http_requests_in_flight 2\n") {
            inFlight = String(decoding: try await server.curl("/metrics", key: key).body, as: UTF8.self)
        }
        #expect(inFlight.contains("till_http_requests_in_flight 2\n"))
        async let ended = server.end(SIGTERM)
        try await Tool.run("bash", ["-c", "echo go >go"], in: till.folder.url)
        try await sending
        let answer = try String(contentsOf: till.folder.file("answer"), encoding: .utf8)
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.contains("\"outcome\":\"granted\""))
        #expect(await ended == 0)
    }
}
