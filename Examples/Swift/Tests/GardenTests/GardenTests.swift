// Buys at both local stores, and follows the purchases through Till and the back end. Run it with ../with-till.sh.

import Crypto
import Foundation
import JWTKit
import Testing

@testable import Garden

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.serialized) struct GardenTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let server = Task { try await Garden.application(settings: environment).runService() }

    private let backEnd: Server
    private let till: Server
    private let appStore: Server
    private let play: Server

    init() async throws {
        func setting(_ name: String) throws -> String { try #require(Self.environment[name]) }
        let sandbox = try setting("TILL_SANDBOX_KEY")
        backEnd = try Server(url: "http://127.0.0.1:\(setting("PORT"))")
        till = try Server(url: setting("TILL_URL"))
        appStore = try Server(url: setting("TILL_STORE_URL") + "/sandbox/v1", token: sandbox)
        play = try Server(url: setting("TILL_PLAY_URL") + "/sandbox/v1", token: sandbox)
        _ = Self.server
        try await eventually { (try? await backEnd.call("GET", "/")) != nil }
    }

    @Test func `a customer buys at both stores, and is refunded at one`() async throws {
        let alice = try await logIn("alice")
        #expect(try await alice.items() == [])

        let gate = try await appStore.call(
            "POST", "/purchases",
            ["account": "alice", "productId": "garden.gate", "appAccountToken": alice.accountToken])
        let redeemed = try await alice.backEnd.call(
            "POST", "/purchases", ["signedTransaction": gate.text("signedTransaction")])
        #expect(redeemed.status == 200)
        #expect(redeemed.list("transactions").first?["mayFinish"] as? Bool == true)

        let plus = try await play.call(
            "POST", "/subscriptions",
            [
                "account": "alice", "packageName": "com.example.garden", "productId": "garden.plus.monthly",
                "obfuscatedAccountId": alice.accountToken,
            ])
        let token = try plus.text("purchaseToken")
        #expect(try await alice.backEnd.call("POST", "/purchases", ["purchaseToken": token]).status == 200)
        #expect(try await alice.items() == ["gate 1", "plus 1"])
        let bought = ["product.purchased garden.gate", "subscription.purchased garden.plus.monthly"]
        try await eventually { try await alice.activity() == bought }

        _ = try await appStore.call("POST", "/transactions/\(gate.text("transactionId"))/refund", [:])
        try await eventually { try await alice.items() == ["plus 1"] }
        try await eventually { try await alice.activity() == bought + ["purchase.refunded garden.gate"] }
    }

    @Test func `a purchase belongs to the user of its account token`() async throws {
        let alice = try await logIn("alice")
        let bob = try await logIn("bob")
        let seeds = try await appStore.call(
            "POST", "/purchases",
            ["account": "alice", "productId": "garden.seeds", "appAccountToken": alice.accountToken])
        let refused = try await bob.backEnd.call(
            "POST", "/purchases", ["signedTransaction": seeds.text("signedTransaction")])
        #expect(refused.status == 409)
        #expect(try refused.text("code") == "appAccountTokenMismatch")
    }

    @Test func `a user logs in`() async throws {
        let alice = try await logIn("alice").backEnd.token.split(separator: ".")
        let bob = try await logIn("bob").backEnd.token.split(separator: ".")
        let issuer = try #require(Self.environment["ISSUER"])
        let audience = try #require(Self.environment["AUDIENCE"])
        let right = try await token(issuer, audience, .now + 60)
        #expect(try await Server(url: backEnd.url, token: right).call("GET", "/items").status == 200)
        for token in try await [
            "", "x", "\(alice[0]).\(bob[1]).\(alice[2])", token(issuer, audience, .now - 1),
            token("https://other.example", audience, .now + 60), token(issuer, "other", .now + 60),
        ] {
            #expect(try await Server(url: backEnd.url, token: token).call("GET", "/items").status == 401)
        }
        for name in ["alice", "nobody"] {
            let answer = try await backEnd.call("POST", "/sessions", ["name": name, "password": "wrong horse"])
            #expect(answer.status == 401)
        }
    }

    @Test func `a webhook is signed, new, and counts once`() async throws {
        let alice = try await logIn("alice")
        let issuer = try #require(Self.environment["ISSUER"])
        let secret = try #require(Self.environment["TILL_WEBHOOK_SECRET"])
        let content = """
            {"type": "item.given", "timestamp": "2027-01-31T12:00:00Z",
            "data": {"number": 99, "user": {"issuer": "\(issuer)", "name": "alice"}}}
            """
        func given() async throws -> Int { try await alice.activity().count { $0 == "item.given" } }
        func deliver(secondsAgo: Int = 0, secret: String) async throws -> Int {
            let timestamp = Int(Date.now.timeIntervalSince1970) - secondsAgo
            let key = try SymmetricKey(data: #require(Data(base64Encoded: String(secret.dropFirst(6)))))
            let code = HMAC<SHA256>.authenticationCode(for: Data("msg_1.\(timestamp).\(content)".utf8), using: key)
            return try await backEnd.call(
                "POST", "/hooks", content: Data(content.utf8),
                headers: [
                    "webhook-id": "msg_1", "webhook-timestamp": "\(timestamp)",
                    "webhook-signature": "v1,\(Data(code).base64EncodedString())",
                ]
            ).status
        }
        #expect(try await deliver(secret: "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQ=") == 401)
        #expect(try await deliver(secondsAgo: 600, secret: secret) == 401)
        #expect(try await given() == 0)
        #expect(try await deliver(secret: secret) == 204)
        #expect(try await deliver(secondsAgo: -1, secret: secret) == 204)
        #expect(try await given() == 1)
    }

    private func logIn(_ name: String) async throws -> Customer {
        let password = try #require(Garden.passwords[name])
        let token = try await backEnd.call("POST", "/sessions", ["name": name, "password": password]).text("token")
        // The app may ask Till itself, with the same token.
        let answer = try await Server(url: till.url, token: token).call("PUT", "/v1/me/account-token")
        return try Customer(
            backEnd: Server(url: backEnd.url, token: token), accountToken: answer.text("appAccountToken"))
    }

    /// Returns a token of alice's, signed with the back end's key.
    private func token(_ issuer: String, _ audience: String, _ end: Date) async throws -> String {
        let jwk = try JWK(json: #require(Self.environment["SIGNING_KEY"]))
        let key = try #require(jwk.privateExponent)
        let keys = try await JWTKeyCollection().add(eddsa: EdDSA.PrivateKey(d: key, curve: .ed25519))
        return try await keys.sign(
            Tokens.Claims(
                iss: .init(value: issuer), aud: .init(value: [audience]), sub: "alice", exp: .init(value: end)))
    }

    private func eventually(_ condition: () async throws -> Bool) async throws {
        let end = Date.now.addingTimeInterval(120)
        while try await !condition(), Date.now < end { try await Task.sleep(for: .milliseconds(50)) }
        #expect(try await condition())
    }
}

/// A customer who is logged in.
struct Customer {
    let backEnd: Server
    let accountToken: String

    func items() async throws -> [String] {
        try await backEnd.call("GET", "/items").list("items").map { item in
            try "\(#require(item["collection"] as? String)) \(#require(item["number"] as? Int))"
        }.sorted()
    }

    func activity() async throws -> [String] {
        try await JSONDecoder().decode([Message].self, from: backEnd.call("GET", "/activity").content).map { message in
            [message.type, message.data.productId].compactMap(\.self).joined(separator: " ")
        }
    }
}

/// A server, called with a token.
struct Server {
    struct Answer {
        let status: Int
        let content: Data

        private var fields: [String: Any] {
            (try? JSONSerialization.jsonObject(with: content)) as? [String: Any] ?? [:]
        }

        func text(_ name: String) throws -> String { try #require(fields[name] as? String) }

        func list(_ name: String) -> [[String: Any]] { fields[name] as? [[String: Any]] ?? [] }
    }

    let url: String
    var token = ""

    func call(_ method: String, _ path: String, _ body: [String: String]? = nil) async throws -> Answer {
        try await call(method, path, content: body.map { try JSONEncoder().encode($0) }, headers: [:])
    }

    func call(_ method: String, _ path: String, content: Data?, headers: [String: String]) async throws -> Answer {
        var request = try URLRequest(url: #require(URL(string: url + path)))
        request.httpMethod = method
        request.httpBody = content
        request.allHTTPHeaderFields = headers.merging(["Authorization": "Bearer \(token)"]) { own, _ in own }
        let (answer, response) = try await URLSession.shared.data(for: request)
        return try Answer(status: #require(response as? HTTPURLResponse).statusCode, content: answer)
    }
}
