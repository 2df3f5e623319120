import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Requests of an app with its user's token.
@Suite struct UserTokenTests {
    let fixture: ServiceFixture
    let issuer: TestIssuer
    let keyFile: URL

    init() async throws {
        issuer = try TestIssuer()
        let file = try TemporaryFolder()
        keyFile = file.file("keys.json")
        try Self.write(TestIssuer.keySet([issuer.publicKey]), to: keyFile)
        fixture = try await ServiceFixture(
            tokens: TokenSettings(
                issuer: TestIssuer.issuer, audiences: [(TestIssuer.audience, nil)], keys: .file(keyFile)),
            keeping: file)
    }

    private static let marks = "a" + String(repeating: "\u{301}", count: 200)

    @Test func `subjects that differ only in their Unicode form do not become one user`() async throws {
        let composed = try issuer.token(for: "Ren\u{E9}", at: now)
        let decomposed = try issuer.token(for: "Rene\u{301}", at: now)
        #expect(try await get("/v1/me/items", token: composed).status == 200)
        #expect(try await get("/v1/me/items", token: decomposed).code == "tokenInvalid")
    }

    private static func write(_ text: String, to file: URL) throws {
        try Data(text.utf8).write(to: file, options: .atomic)
    }

    private var now: Int64 { fixture.shop.clock.now().millisecondsSince1970 / 1000 }

    private func get(_ path: String = "/v1/me/items", token: String) async throws -> ServiceFixture.Answer {
        try await fixture.send(.get, path, key: token)
    }

    @Test func `the names of API keys are shown to back ends and not to users`() async throws {
        let bought = try fixture.buy("sprout1")
        let body = "{\"signedTransaction\":\"\(try fixture.shop.store.signedTransaction(bought.identifier))\"}"
        let token = try issuer.token(for: "alice", at: now)
        #expect(try await fixture.send(.post, "/v1/me/transactions", body: body, key: token).status == 200)
        let transaction = try #require(bought.purchase).transactionIdentifier
        let query = "issuer=\(TestIssuer.issuer)"
        let revoked = try await fixture.send(
            .put, "/v1/users/alice/transactions/\(transaction)/revocation?\(query)", body: #"{"reason":"Fraud"}"#
        ).decoded(TransactionResource.self)
        #expect(revoked.revocation?.revokedByName == "tests")
        let grant = #"{"item":{"collection":"sprout","number":2},"reason":"a prize"}"#
        #expect(try await fixture.send(.post, "/v1/users/alice/grants?\(query)", body: grant).status == 201)
        let shown = try await fixture.send(.get, "/v1/users/alice/transactions?\(query)").decoded(
            List<TransactionResource>.self)
        #expect(shown.elements.first?.revocation?.revokedByName == "tests")
        let own = try await get("/v1/me/transactions", token: token).decoded(List<TransactionResource>.self)
        let revocation = try #require(own.elements.first?.revocation)
        #expect(revocation.revokedBy == revoked.revocation?.revokedBy)
        #expect(revocation.revokedByName == nil)
        let archive = try await fixture.send(.get, "/v1/users/alice/export?\(query)").decoded(UserArchiveResource.self)
        #expect(archive.transactions.first?.revocation?.revokedByName == "tests")
        #expect(archive.grants.map(\.grantedByName) == ["tests"])
        #expect(archive.events.map(\.actorName) == [nil, "tests", "tests"])
        #expect(archive.events.first?.actor == "user")
        let ownArchive = try await get("/v1/me/export", token: token)
        #expect(!String(decoding: ownArchive.body, as: UTF8.self).contains("\"tests\""))
        #expect(try ownArchive.decoded(UserArchiveResource.self).events.map(\.actor) == archive.events.map(\.actor))
        let events = try await fixture.send(.get, "/v1/exports/events?format=jsonl").body
            .split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode([String: JSONContent].self, from: $0) }
        #expect(events.map { $0["actor"]?.text == "user" } == [true, false, false])
        #expect(events.map { $0["actor_name"]?.text } == [nil, "tests", "tests"])
    }

    @Test func `an app acts for the user of its token`() async throws {
        let token = try issuer.token(at: now)
        let bought = try fixture.buy("sprout1")
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        let body = "{\"signedTransaction\":\"\(signed)\"}"
        let redeemed = try await fixture.send(.post, "/v1/me/transactions", body: body, key: token)
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        let items = try await get(token: token)
        #expect(try items.decoded(List<OwnedItemResource>.self).elements.count == 3)
        let list = try await get("/v1/me/transactions", token: token).decoded(List<TransactionResource>.self)
        #expect(list.elements.count == 1)

        // A back end reaches the same user by the issuer. Its own alice is another user.
        let path = "/v1/users/alice/items?issuer=\(TestIssuer.issuer)"
        #expect(try await fixture.send(.get, path).body == items.body)
        #expect(try await fixture.send(.get, "/v1/users/alice/items").body != items.body)
        #expect(
            try await fixture.send(.get, "/v1/users/alice/items?issuer=https://other.example.com").code
                == "parameterInvalid")
        let own = try await fixture.send(.put, "/v1/me/account-token", key: token).decoded(AppAccountTokenResource.self)
        #expect(
            try await get("/v1/me", token: token).decoded(AppAccountTokenResource.self).appAccountToken
                == own.appAccountToken)
        let named = try await fixture.send(.get, "/v1/users/alice?issuer=\(TestIssuer.issuer)")
        #expect(try named.decoded(AppAccountTokenResource.self).appAccountToken == own.appAccountToken)
    }

    @Test(
        arguments: [
            ("GET", "/v1/products", 200, nil), ("GET", "/v1/me", 404, "userNotFound"),
            ("PUT", "/v1/me/account-token", 200, nil),
            ("GET", "/v1/users/alice", 403, "keyRequired"),
            ("GET", "/v1/users/alice/items", 403, "keyRequired"),
            ("POST", "/v1/users/alice/receipts", 403, "keyRequired"),
            ("POST", "/v1/proofs/verify", 403, "keyRequired"), ("PUT", "/v1/me", 405, "methodNotAllowed"),
        ] as [(String, String, Int, String?)])
    func `a user's token cannot name other users`(method: String, path: String, status: Int, code: String?) async throws
    {
        let method = try #require(HTTPRequest.Method(rawValue: method))
        let answer = try await fixture.send(method, path, body: "{}", key: try issuer.token(at: now))
        #expect(answer.status == status)
        #expect(answer.code == code)
    }

    @Test func `an API key has no user of its own`() async throws {
        #expect(try await get(token: fixture.key).code == "tokenRequired")
    }

    @Test(
        arguments: [
            ("another issuer", ["iss": "https://evil.example.com"], [:], "tokenInvalid"),
            ("another audience", ["aud": "com.example.other"], [:], "tokenInvalid"),
            ("no audience", ["aud": .none], [:], "tokenInvalid"),
            ("no user", ["sub": .none], [:], "tokenInvalid"), ("an empty user", ["sub": ""], [:], "tokenInvalid"),
            ("a user that is null", ["sub": "null"], [:], "tokenInvalid"),
            ("a user of zeros", ["sub": "00000000-0000-0000-0000-000000000000"], [:], "tokenInvalid"),
            ("a user with a space", ["sub": "a b"], [:], "tokenInvalid"),
            ("a user that is not in NFC", ["sub": "Rene\u{301}"], [:], "tokenInvalid"),
            ("a kid of combining marks", [:], ["kid": .string(Self.marks)], "tokenInvalid"),
            ("a header's key of combining marks", [:], [Self.marks: "x"], "tokenInvalid"),
            ("a claim's name of combining marks", [Self.marks: "x"], [:], "tokenInvalid"),
            ("no end", ["exp": .none], [:], "tokenInvalid"),
            ("ended", ["exp": .integer(1_790_000_000)], [:], "tokenExpired"),
            ("an end out of the world", ["exp": .integer(Int64.max)], [:], "tokenInvalid"),
            ("an end that is no number", ["exp": "1800000000"], [:], "tokenInvalid"),
            ("not yet", ["nbf": .integer(1_790_000_061)], [:], "tokenInvalid"),
            ("an unknown key", [:], ["kid": "second"], "tokenInvalid"), ("no key", [:], ["kid": .none], "tokenInvalid"),
            ("no algorithm", [:], ["alg": "none"], "tokenInvalid"),
            ("another algorithm of elliptic curves", [:], ["alg": "ES384"], "tokenInvalid"),
            ("a shared secret", [:], ["alg": "HS256"], "tokenInvalid"),
            ("something critical", [:], ["crit": .array(["exp"])], "tokenInvalid"),
        ] as [(String, [String: JSONValue?], [String: JSONValue?], String)])
    func `an invalid token is refused`(
        what: String,
        claims: [String: JSONValue?],
        header: [String: JSONValue?],
        code: String
    ) async throws {
        let answer = try await get(token: try issuer.token(at: now, claims: claims, header: header))
        #expect(answer.status == 401, "\(what)")
        #expect(answer.code == code, "\(what)")
        #expect(answer.headers[.wwwAuthenticate] == "Bearer error=\"invalid_token\"")
    }

    @Test(
        arguments: [
            ("several audiences", ["aud": .array(["x", .string(TestIssuer.audience)])], [:]),
            ("a clock a minute ahead", ["nbf": .integer(1_790_000_060)], [:]),
            ("an end within a second", ["exp": try? JSONParser.parse(Array("1790000000.5".utf8))], [:]),
        ] as [(String, [String: JSONValue?], [String: JSONValue?])])
    func `a valid token is accepted`(
        what: String,
        claims: [String: JSONValue?],
        header: [String: JSONValue?]
    ) async throws {
        let answer = try await get(token: try issuer.token(at: now, claims: claims, header: header))
        #expect(answer.status == 200, "\(what)")
    }

    @Test func `a token with an invalid signature is refused`() async throws {
        let token = try issuer.token(at: now)
        let parts = token.split(separator: ".").map(String.init)
        let stranger = try TestIssuer().token(at: now)
        let other = try issuer.token(for: "bob", at: now).split(separator: ".")[1]
        for forged in [
            stranger, "\(parts[0]).\(other).\(parts[2])", "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])",
            token + ".x", token + "=", "..", "x.", String(repeating: "a.", count: 4500),
            parts[1] + "." + parts[1] + "." + parts[2],
        ] {
            #expect(try await get(token: forged).code == "tokenInvalid", "\(forged.prefix(40))")
        }
    }

    @Test func `a cached token expires`() async throws {
        let token = try issuer.token(at: now)
        for _ in 0..<2 { #expect(try await get(token: token).status == 200) }
        fixture.shop.clock.advance(milliseconds: 3_599_999)
        #expect(try await get(token: token).status == 200)
        fixture.shop.clock.advance(milliseconds: 1)
        #expect(try await get(token: token).code == "tokenExpired")
        #expect(try await get(token: try issuer.token(at: now)).status == 200)
    }

    @Test func `an issuer may rotate its keys`() async throws {
        let first = try issuer.token(at: now)
        #expect(try await get(token: first).status == 200)
        let second = try TestIssuer(keyIdentifier: "second")
        try Self.write(TestIssuer.keySet([second.publicKey]), to: keyFile)
        // The service loads the keys at most once a minute. A cached token stays valid until then.
        #expect(try await get(token: try second.token(at: now)).code == "tokenInvalid")
        #expect(try await get(token: first).status == 200)
        fixture.shop.clock.advance(milliseconds: 60_000)
        #expect(try await get(token: try second.token(at: now)).status == 200)
        // The first key is gone, and so are the tokens cached for it.
        #expect(try await get(token: first).code == "tokenInvalid")

        // The last keys stay valid for a day without the file.
        try FileManager.default.removeItem(at: keyFile)
        fixture.shop.clock.advance(milliseconds: 86_400_000 - 1)
        #expect(try await get(token: try second.token(at: now)).status == 200)
        // An unknown key may be among those that cannot be loaded.
        #expect(
            try await get(token: try TestIssuer(keyIdentifier: "third").token(at: now)).code == "tokenKeysUnavailable")
        fixture.shop.clock.advance(milliseconds: 1)
        let answer = try await get(token: try second.token(at: now))
        #expect(answer.status == 503)
        #expect(answer.code == "tokenKeysUnavailable")
        #expect(answer.headers[.retryAfter] == "60")
        // The keys of back ends still work.
        #expect(try await get("/v1/users/alice/items", token: fixture.key).status == 200)
    }

    @Test func `an app's public key is not read as a token`() async throws {
        let key = try await fixture.keys.makePublic(
            name: "app", app: fixture.shop.catalog.bundleIdentifier, platform: .apple)
        #expect(try await get(token: key.identifier).code == "keyRequired")
        #expect(try await get(token: "appl_unknown").code == "keyInvalid")
    }

    @Test func `a wrong API key is refused as a key, and the refusal tells nothing of the keys that there are`()
        async throws
    {
        let parts = fixture.key.split(separator: "_", maxSplits: 2)
        var details: Set<String> = []
        for key in [
            String(fixture.key.dropLast()), fixture.key + "A", "till_\(parts[1])_", "till_000000000000_\(parts[2])",
            "till_x.y.z", "TILL_\(parts[1])_\(parts[2])", "\(parts[1])_\(parts[2])", "wrong", "appl_unknown",
            String(repeating: "a", count: 9000),
        ] {
            let answer = try await get("/v1/users/alice/items", token: key)
            #expect(answer.status == 401 && answer.code == "keyInvalid", "\(key.prefix(40))")
            #expect(answer.headers[.wwwAuthenticate] == #"Bearer error="invalid_token""#)
            details.insert(try answer.decoded(ProblemResource.self).detail)
        }
        #expect(details.count == 1)
        #expect(details.first?.hasPrefix("The API key is unknown or was revoked.") == true)
        #expect(details.first?.hasSuffix("A user's token must be a signed JWT.") == true)
    }

    @Test func `a user has a lower rate limit than a back end`() async throws {
        var limits = RequestLimits()
        (limits.perKey, limits.perUser) = (100, 2)
        let fixture = try await ServiceFixture(
            limits: limits,
            tokens: TokenSettings(
                issuer: TestIssuer.issuer, audiences: [(TestIssuer.audience, nil)], keys: .file(keyFile)))
        func status(_ user: String) async throws -> Int {
            try await fixture.send(.get, "/v1/me/items", key: try issuer.token(for: user, at: now)).status
        }
        // A new token names the same user.
        let statuses = try await [status("alice"), status("alice"), status("alice"), status("bob")]
        #expect(statuses == [200, 200, 429, 200])
    }

    @Test(
        arguments: [
            ("{}", TokenKeysError.malformed), ("[]", .malformed), ("", .malformed), ("{\"keys\":[]}", .noUsableKey),
            ("{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\",\"alg\":\"HS256\"}]}", .noUsableKey),
            ("{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}", .noUsableKey),
            ("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"AAAA\",\"y\":\"AAAA\"}]}", .noUsableKey),
            ("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAA\",\"y\":\"AAAA\"}]}", .noUsableKey),
        ] as [(String, TokenKeysError)])
    func `unusable keys are reported at the start`(set: String, error: TokenKeysError) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("keys.json")
        try Self.write(set, to: file)
        let tokens = UserTokens(
            TokenSettings(
                issuer: TestIssuer.issuer, audiences: [(TestIssuer.audience, nil)], keys: .file(file)),
            clock: fixture.shop.clock, logger: ServiceFixture.logger)
        await #expect(throws: error) { try await tokens.prepare() }
    }

    @Test(arguments: [(2048, 200, nil), (1024, 401, "tokenInvalid")] as [(Int, Int, String?)])
    func `RSA keys are accepted if they are long enough`(bits: Int, status: Int, code: String?) async throws {
        let rsa = try await TestIssuer(rsaBits: bits)
        try Self.write(TestIssuer.keySet([issuer.publicKey, rsa.publicKey]), to: keyFile)
        #expect(try await get(token: try issuer.token(at: now)).status == 200)
        let answer = try await get(token: try rsa.token(at: now))
        #expect(answer.status == status)
        #expect(answer.code == code)
        // The public key is not a secret to sign with.
        #expect(try await get(token: try rsa.token(at: now, header: ["alg": "HS256"])).code == "tokenInvalid")
    }

    @Test func `a key with another use, algorithm or type is not usable`() async throws {
        for (name, value) in [("use", "enc"), ("alg", "ES384"), ("alg", "RS256"), ("kty", "OKP")] {
            var members = Dictionary(uniqueKeysWithValues: issuer.publicKey.members.map { ($0.key, $0.value) })
            members[name] = .string(value)
            try Self.write(TestIssuer.keySet([JSONObject(members)]), to: keyFile)
            let tokens = UserTokens(
                TokenSettings(
                    issuer: TestIssuer.issuer, audiences: [(TestIssuer.audience, nil)], keys: .file(keyFile)),
                clock: fixture.shop.clock, logger: ServiceFixture.logger)
            await #expect(throws: TokenKeysError.noUsableKey, "\(name) \(value)") { try await tokens.prepare() }
        }
    }

    @Test func `keys are loaded from an address`() async throws {
        let set = TestIssuer.keySet([issuer.publicKey])
        let router = Router()
        router.get("keys") { _, _ in set }
        try await Application(router: router).test(.live) { client in
            let address = "http://127.0.0.1:\(try #require(client.port))"
            for (path, error) in [("keys", TokenKeysError?.none), ("nothing", .unreachable)] {
                let source = try #require(TokenKeySource("\(address)/\(path)"))
                let tokens = UserTokens(
                    TokenSettings(
                        issuer: TestIssuer.issuer, audiences: [(TestIssuer.audience, nil)], keys: source),
                    clock: fixture.shop.clock, logger: ServiceFixture.logger)
                if let error {
                    await #expect(throws: error) { try await tokens.prepare() }
                } else {
                    try await tokens.prepare()
                }
            }
        }
    }

    @Test(arguments: [
        "http://accounts.example.com/keys", "ftp://127.0.0.1/keys", "https://user@accounts.example.com/keys",
        "https://",
    ])
    func `an insecure address of keys is refused`(address: String) {
        #expect(TokenKeySource(address) == nil)
    }
}
