import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import TestSupport
import Testing

/// The tokens of developers' servers. `Tests/Apple` signs them with Apple's own library.
@Suite struct TeamTokenTests {
    private static let now: Int64 = 1_790_000_000
    private static let start = "2026-09-21T14:13:20Z"

    private let garden: TestGarden
    private let key: TeamKey
    private let privateKey: String

    init() throws {
        garden = try TestGarden(start: Self.start)
        var privateKey = ""
        key = try garden.store.makeTeamKey { privateKey = $1 }
        self.privateKey = privateKey
    }

    private var standardClaims: [String: JSONValue] {
        [
            "iss": .string(key.issuerIdentifier), "bid": .string(TestGarden.bundleIdentifier),
            "aud": "appstoreconnect-v1", "iat": .integer(Self.now), "exp": .integer(Self.now + 300),
        ]
    }

    /// A token with other claims and another header; nil leaves a member out.
    private func token(
        claims: [String: JSONValue?] = [:],
        header: [String: JSONValue?] = [:],
        signedBy pem: String? = nil
    ) throws -> String {
        let standardHeader: [String: JSONValue] = [
            "alg": "ES256", "kid": .string(key.keyIdentifier), "typ": "JWT",
        ]
        func text(_ standard: [String: JSONValue], _ changes: [String: JSONValue?]) -> String {
            let members = standard.mapValues(Optional.some).merging(changes) { $1 }.compactMapValues { $0 }
            return JSONValue.object(JSONObject(members)).compactText
        }
        let signed = [text(standardHeader, header), text(standardClaims, claims)]
            .map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try PrivateKey(pem: pem ?? privateKey).signES256(Array(signed.utf8))
        return signed + "." + Base64.encode(signature, .urlSafe)
    }

    /// True if a request with a token reaches the store's server API.
    private func isAccepted(_ token: String) async throws -> Bool {
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        return try await application.test(.router) { client in
            let answer = try await client.executeRequest(
                uri: "/inApps/v1/transactions/9", method: .get, headers: [.authorization: "Bearer \(token)"],
                body: nil)
            #expect([401, 404].contains(answer.status.code))
            return answer.status != .unauthorized
        }
    }

    @Test func `a token makes a named store, and an invalid one does not`() async throws {
        let (good, bad) = (try token(), try token(claims: ["aud": "other"]))
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        try await application.test(.router) { client async throws in
            func status(_ name: String, _ token: String) async throws -> Int {
                try await client.executeRequest(
                    uri: "/stores/\(name)/inApps/v1/transactions/9", method: .get,
                    headers: [.authorization: "Bearer \(token)"], body: nil
                ).status.code
            }
            for number in 1...300 { #expect(try await status("stranger-\(number)", bad) == 401) }
            for number in 1...256 { #expect(try await status("suite-\(number)", good) == 404) }
            #expect(try await status("more", good) == 409)
            #expect(try await status("more", bad) == 401)
        }
    }

    @Test(
        arguments: [
            (["aud": .array(["appstoreconnect-v1"])], [:]), (["iat": nil], [:]), (["iat": .null], [:]),
            (["iat": .integer(now - 1)], [:]), (["exp": .integer(now + 3600)], [:]), (["exp": .integer(now + 1)], [:]),
            (["iat": nil, "exp": .integer(now + 3600)], [:]),
            (["nonce": "x"], [:]), ([:], ["typ": nil]),
        ] as [([String: JSONValue?], [String: JSONValue?])])
    func `a token that says what Apple asks for is accepted`(
        claims: [String: JSONValue?],
        header: [String: JSONValue?]
    ) async throws {
        #expect(try await isAccepted(token(claims: claims, header: header)))
    }

    @Test(
        arguments: [
            (["iss": "another"], [:]), (["iss": nil], [:]), (["bid": "com.example.other"], [:]), (["bid": nil], [:]),
            (["aud": "appstoreconnect-v2"], [:]), (["aud": .array([])], [:]), (["aud": nil], [:]),
            (["aud": .array(["appstoreconnect-v1", "appstoreconnect-v1"])], [:]),
            (["exp": nil], [:]), (["exp": "1790000300"], [:]), (["exp": .integer(now)], [:]),
            (["exp": .integer(now + 3601)], [:]), (["iat": .integer(now + 1)], [:]), (["iat": "1790000000"], [:]),
            (["iat": nil, "exp": .integer(now + 3601)], [:]),
            (["iat": .integer(now - 3000), "exp": .integer(now + 601)], [:]),
            ([:], ["alg": "none"]), ([:], ["alg": "HS256"]), ([:], ["alg": "ES384"]), ([:], ["alg": nil]),
            ([:], ["kid": "another"]), ([:], ["kid": nil]), ([:], ["kid": .integer(1)]),
            ([:], ["crit": .array(["exp"])]),
        ] as [([String: JSONValue?], [String: JSONValue?])])
    func `a token that says something else is refused`(
        claims: [String: JSONValue?],
        header: [String: JSONValue?]
    ) async throws {
        #expect(try await !isAccepted(token(claims: claims, header: header)))
    }

    @Test func `a plus sign in a query is a space`() {
        let request = Request(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/x?a=b+c&d=e%2Bf%3D&g&h=i=j&=k"),
            body: RequestBody(buffer: ByteBuffer()))
        #expect(request.parameters.map(\.name) == ["a", "d", "g", "h", ""])
        #expect(request.parameters.map(\.value) == ["b c", "e+f=", "", "i=j", "k"])
    }

    @Test func `a token that the team's key did not sign is refused`() async throws {
        let stranger = try PrivateKey.generate(.p256).pem()
        #expect(try await !isAccepted(token(signedBy: stranger)))
        let good = try token()
        #expect(try await isAccepted(good))
        let parts = good.split(separator: ".")
        for forged in ["\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])", good + "==", good + ".x", "x", ""] {
            #expect(try await !isAccepted(forged), "\(forged.suffix(8))")
        }
        let long = try token(claims: ["nonce": .string(String(repeating: "a", count: 8192))])
        #expect(try await !isAccepted(long))
    }
}
