import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import Synchronization
import TestSupport
import Testing

/// The identity tokens of pushed notifications. Each refused one fails one check.
@Suite struct PushTokenTests {
    private let clock = ManualClock()
    private let folder: TemporaryFolder
    private let issuer: TestPushIssuer

    init() throws {
        folder = try TemporaryFolder()
        issuer = try TestPushIssuer.shared.get()
    }

    private var now: Int64 { clock.now().secondsSince1970 }

    private func tokens(_ keys: TokenKeySource) -> PushTokens {
        PushTokens(
            .init(audience: TestPushIssuer.audience, email: TestPushIssuer.email, keys: keys), clock: clock,
            logger: ServiceFixture.logger)
    }

    /// The verifier of a file with keys.
    private func tokens(_ form: TestPushIssuer.KeyForm = .certificate) throws -> PushTokens {
        let file = folder.file("keys.json")
        try Data(try issuer.keys(form).utf8).write(to: file)
        return tokens(.file(file))
    }

    @Test(arguments: TestPushIssuer.KeyForm.allCases)
    func `a token is accepted by keys of each form`(form: TestPushIssuer.KeyForm) async throws {
        try await tokens(form).verify(try issuer.token(at: now))
    }

    private static let marks = "a" + String(repeating: "\u{301}", count: 200)

    @Test(
        arguments: [
            ("Google's issuer without https", ["iss": "accounts.google.com"], [:]),
            ("a clock a minute ahead", ["iat": .integer(1_790_000_060)], [:]),
            ("a lifetime of a day", ["exp": .integer(1_790_086_400)], [:]),
            ("a new claim", ["google": .object([:])], [:]),
        ] as [(String, [String: JSONValue?], [String: JSONValue?])])
    func `another genuine token is accepted`(
        what: String, claims: [String: JSONValue?], header: [String: JSONValue?]
    ) async throws {
        try await tokens().verify(try issuer.token(at: now, claims: claims, header: header))
    }

    @Test(
        arguments: [
            ("another issuer", ["iss": "https://evil.example.com"], [:], "tokenInvalid"),
            ("a similar issuer", ["iss": "https://accounts.google.com/"], [:], "tokenInvalid"),
            ("no issuer", ["iss": .none], [:], "tokenInvalid"),
            ("another audience", ["aud": "https://shop.example.com/"], [:], "tokenInvalid"),
            ("several audiences", ["aud": .array([.string(TestPushIssuer.audience), "x"])], [:], "tokenInvalid"),
            ("no audience", ["aud": .none], [:], "tokenInvalid"),
            ("another service account", ["email": "push@evil.iam.gserviceaccount.com"], [:], "tokenInvalid"),
            ("the account in capitals", ["email": .string(TestPushIssuer.email.uppercased())], [:], "tokenInvalid"),
            ("no account", ["email": .none], [:], "tokenInvalid"),
            ("an address that is not verified", ["email_verified": .bool(false)], [:], "tokenInvalid"),
            ("a verification that is a text", ["email_verified": "true"], [:], "tokenInvalid"),
            ("no verification", ["email_verified": .none], [:], "tokenInvalid"),
            ("ended", ["exp": .integer(1_790_000_000)], [:], "tokenExpired"),
            ("no end", ["exp": .none], [:], "tokenInvalid"),
            ("an end that is a text", ["exp": "1790003600"], [:], "tokenInvalid"),
            ("no beginning", ["iat": .none], [:], "tokenInvalid"),
            ("from the future", ["iat": .integer(1_790_000_061)], [:], "tokenInvalid"),
            ("a lifetime of more than a day", ["exp": .integer(1_790_086_401)], [:], "tokenInvalid"),
            (
                "an end before the beginning", ["iat": .integer(1_789_999_999), "exp": .integer(1_789_999_998)], [:],
                "tokenInvalid"
            ),
            ("an unknown key", [:], ["kid": "second"], "tokenInvalid"), ("no key", [:], ["kid": .none], "tokenInvalid"),
            ("no algorithm", [:], ["alg": "none"], "tokenInvalid"),
            ("another algorithm of RSA", [:], ["alg": "RS512"], "tokenInvalid"),
            ("another spelling of the algorithm", [:], ["alg": "rs256"], "tokenInvalid"),
            ("something critical", [:], ["crit": .array(["exp"])], "tokenInvalid"),
            ("a key of combining marks", [:], ["kid": .string(Self.marks)], "tokenInvalid"),
        ] as [(String, [String: JSONValue?], [String: JSONValue?], String)])
    func `a token that fails a check is refused`(
        what: String, claims: [String: JSONValue?], header: [String: JSONValue?], code: String
    ) async throws {
        let token = try issuer.token(at: now, claims: claims, header: header)
        let problem = await #expect(throws: Problem.self, "\(what)") { try await tokens().verify(token) }
        #expect(problem?.code == code, "\(what)")
    }

    @Test func `a token without a genuine signature is refused`() async throws {
        let genuine = try issuer.token(at: now)
        let parts = genuine.split(separator: ".").map(String.init)
        let other = try issuer.token(at: now - 1).split(separator: ".")[1]
        let stranger = try TestPushIssuer(chain: try TestChains.make(.rsa, name: "Stranger"))
        for forged in [
            try stranger.token(at: now),
            try issuer.token(at: now, header: ["alg": "HS256"], signature: .sharedSecret),
            try issuer.token(at: now, signature: .sharedSecret),
            try issuer.token(at: now, header: ["alg": "none"], signature: .none),
            try issuer.token(at: now, signature: .none), "\(parts[0]).\(other).\(parts[2])",
            "\(parts[0]).\(parts[1])", genuine + ".x", genuine + "=", "..", "", "x",
            String(repeating: "a", count: 9000),
        ] {
            let problem = await #expect(throws: Problem.self) { try await tokens().verify(forged) }
            #expect(problem?.code == "tokenInvalid", "\(forged.prefix(40))")
        }
    }

    /// The address of keys, with the number of its requests.
    private final class KeyServer: Sendable {
        let requests = Atomic(0)
        let keys: Mutex<String>

        init(_ keys: String) { self.keys = Mutex(keys) }

        func router(cacheControl: String?) -> Router<BasicRequestContext> {
            let router = Router()
            router.get("certs") { [self] _, _ in
                requests.add(1, ordering: .relaxed)
                var answer = Response(
                    status: .ok, body: .init(byteBuffer: ByteBuffer(string: keys.withLock { $0 })))
                if let cacheControl { answer.headers[.cacheControl] = cacheControl }
                return answer
            }
            return router
        }
    }

    @Test(
        arguments: [
            ("public, max-age=7200, must-revalidate, no-transform", 7200), ("max-age=\"300\"", 300),
            ("no-cache, max-age=7200", 60), ("max-age=0", 60), ("max-age=99999999999999999999", 3600),
            ("max-age=9999999999999999", 86_400), (nil, 3600),
        ] as [(String?, Int64)])
    func `keys are loaded again after the time that Google states, within bounds`(
        cacheControl: String?, seconds: Int64
    ) async throws {
        let server = KeyServer(try issuer.keys())
        try await Application(router: server.router(cacheControl: cacheControl)).test(.live) { client in
            let address = "http://127.0.0.1:\(try #require(client.port))/certs"
            let tokens = tokens(try #require(TokenKeySource(address)))
            try await tokens.verify(try issuer.token(at: now))
            clock.advance(milliseconds: seconds * 1000 - 1)
            // A day later, the last keys no longer count by themselves.
            guard seconds < 86_400 else { return }
            try await tokens.verify(try issuer.token(at: now))
            #expect(server.requests.load(ordering: .relaxed) == 1)
            clock.advance(milliseconds: 1)
            // The known key counts while the keys are loaded.
            try await tokens.verify(try issuer.token(at: now))
            await expectEventually { server.requests.load(ordering: .relaxed) == 2 }
        }
    }

    @Test func `strangers cannot make the service load keys`() async throws {
        let server = KeyServer(try issuer.keys())
        try await Application(router: server.router(cacheControl: "max-age=3600")).test(.live) { client in
            let address = "http://127.0.0.1:\(try #require(client.port))/certs"
            let tokens = tokens(try #require(TokenKeySource(address)))
            // A token with other claims is refused before its key is looked for.
            for number in 0..<20 {
                let stranger = try issuer.token(
                    at: now, claims: ["aud": "https://evil.example.com"], header: ["kid": .string("k\(number)")])
                await #expect(throws: Problem.self) { try await tokens.verify(stranger) }
            }
            #expect(server.requests.load(ordering: .relaxed) == 0)
            try await tokens.verify(try issuer.token(at: now))
            clock.advance(milliseconds: 60_000)
            // Google may have a new key, so unknown ones load the keys, once a minute in all.
            for number in 0..<20 {
                let unknown = try issuer.token(at: now, header: ["kid": .string("k\(number)")])
                await #expect(throws: Problem.self) { try await tokens.verify(unknown) }
            }
            #expect(server.requests.load(ordering: .relaxed) == 2)
        }
    }

    @Test func `a new key of Google is found, and an old one ends`() async throws {
        let server = KeyServer(try issuer.keys())
        try await Application(router: server.router(cacheControl: "max-age=3600")).test(.live) { client in
            let address = "http://127.0.0.1:\(try #require(client.port))/certs"
            let tokens = tokens(try #require(TokenKeySource(address)))
            try await tokens.verify(try issuer.token(at: now))
            let next = try TestPushIssuer(chain: try TestChains.make(.rsa, name: "Next"), keyIdentifier: "next")
            server.keys.withLock { keys in keys = (try? next.keys()) ?? "" }
            clock.advance(milliseconds: 60_000)
            try await tokens.verify(try next.token(at: now))
            await #expect(throws: Problem.self) { try await tokens.verify(try issuer.token(at: now)) }
        }
    }

    @Test(arguments: ["", "{}", "[]", #"{"first":1}"#, #"{"first":"x"}"#, #"{"keys":[]}"#, "<html>"])
    func `without keys, the answer is to try again`(keys: String) async throws {
        let file = folder.file("keys.json")
        try Data(keys.utf8).write(to: file)
        let tokens = tokens(.file(file))
        let problem = await #expect(throws: Problem.self) { try await tokens.verify(try issuer.token(at: now)) }
        #expect(problem?.code == "tokenKeysUnavailable" && problem?.status == 503)
    }
}
