import Foundation
import HTTPSupport
import Logging
import Proofs
import TestSupport
import Testing

/// The types of a token's claims.
@Suite struct TokenClaimsTests {
    private static let unreadable =
        "The token is not accepted: its signature is invalid, or iss, sub, aud or exp is missing or of another type."

    private let clock = ManualClock()

    private func json(_ text: String) throws -> JSONValue {
        try JSONParser.parse(Array(text.utf8))
    }

    /// The reason for refusing a token with one changed claim. Nil if it is accepted.
    private func reason(_ name: String, _ value: String?) async throws -> String? {
        let issuer = try TestIssuer()
        let folder = try TemporaryFolder()
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: folder.file("keys.json"))
        let tokens = UserTokens(
            TokenSettings(
                issuer: TestIssuer.issuer, audiences: [(TestIssuer.audience, nil)],
                keys: .file(folder.file("keys.json"))),
            clock: clock, logger: Logger(label: "test"))
        let claims: [String: JSONValue?] = [name: try value.map(json)]
        let token = try issuer.token(at: clock.now().secondsSince1970, claims: claims)
        do throws(Problem) {
            _ = try await tokens.caller(presenting: token)
            return nil
        } catch { return error.detail }
    }

    @Test(
        arguments: [
            ("exp", "1790003600.25"), ("exp", "1.790003600e9"), ("nbf", "1790000000"), ("nbf", "null"), ("nbf", nil),
            ("iat", "\"yesterday\""), ("aud", "[\"\(TestIssuer.audience)\"]"),
            ("aud", "[\"a\",\"\(TestIssuer.audience)\"]"), ("other", "[{\"a\":null}]"),
        ] as [(String, String?)])
    func `a claim of the right type is accepted`(name: String, value: String?) async throws {
        #expect(try await reason(name, value) == nil)
    }

    @Test(
        arguments: [
            ("iss", nil), ("iss", "1"), ("iss", "null"), ("sub", nil), ("sub", "[\"alice\"]"), ("aud", nil),
            ("aud", "null"), ("aud", "1"), ("aud", "[1]"), ("aud", "[\"\(TestIssuer.audience)\",1]"),
            ("aud", "{\"a\":\"\(TestIssuer.audience)\"}"), ("exp", nil), ("exp", "null"), ("exp", "true"),
            ("exp", "\"1790003600\""), ("exp", "1e400"), ("nbf", "\"1790000000\""), ("nbf", "false"), ("nbf", "1e400"),
        ] as [(String, String?)])
    func `a claim of the wrong type is refused`(name: String, value: String?) async throws {
        #expect(try await reason(name, value) == Self.unreadable)
    }

    @Test(
        arguments: [
            ("aud", "[]", "it is for another audience"), ("aud", "\"\"", "it is for another audience"),
            ("exp", "-1", "one of its dates is out of range"),
            ("exp", "253402300800", "one of its dates is out of range"),
            ("nbf", "-0.5", "one of its dates is out of range"), ("nbf", "1790000060.001", "it is not valid yet"),
        ])
    func `a claim with the wrong value is refused with its reason`(name: String, value: String, because: String)
        async throws
    {
        #expect(try await reason(name, value) == "The token is not accepted: \(because).")
    }
}
