import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The published keys of an issuer.
@Suite struct TokenKeySetTests {
    private static let all = Set(TokenAlgorithm.allCases)

    private static func set(_ text: String, allowing allowed: Set<TokenAlgorithm> = all) throws -> TokenKeySet {
        try TokenKeySet(Array(text.utf8), allowing: allowed)
    }

    /// RFC 7517 appendix A.1: an encryption key and a signing key.
    private static let example = """
        {"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",\
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","use":"enc","kid":"1"},\
        {"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKR\
        XjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0\
        zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEg\
        U8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}]}
        """

    @Test func `the standard's set has one signing key`() throws {
        let keys = try Self.set(Self.example)
        #expect(keys["1"] == nil)
        #expect(keys["2011-04-29"]?.algorithm == .rs256)
        // Without its `use`, the other key is a signing key, too.
        let both = try Self.set(Self.example.replacing(#""use":"enc","#, with: ""))
        #expect(both["1"]?.algorithm == .es256)
    }

    @Test func `a key without alg has its kind's algorithm`() throws {
        for (algorithm, expected) in [
            (TokenAlgorithm.rs512, TokenAlgorithm.rs256), (.ps256, .rs256), (.es256, .es256), (.es384, .es384),
            (.es512, .es512), (.edDSA, .edDSA),
        ] {
            let key = try OracleTokens.issuer(algorithm).publicKey
            let members = Dictionary(uniqueKeysWithValues: key.members.map { ($0.key, $0.value) })
            let set = TestIssuer.keySet([JSONObject(members.filter { $0.key != "alg" })])
            #expect(try Self.set(set)["oracle"]?.algorithm == expected)
        }
    }

    @Test func `the first usable key of several with one kid is used`() throws {
        let first = try TestIssuer(keyIdentifier: "a")
        let second = try TestIssuer(keyIdentifier: "a")
        let secret = #"{"kty":"oct","kid":"a","k":"AAAA"}"#
        let set = TestIssuer.keySet([first.publicKey, second.publicKey]).replacing("[", with: "[\(secret),")
        let key = try #require(try Self.set(set)["a"])
        let now: Int64 = 1_790_000_000
        #expect(try SignedToken(compact: Array(try first.token(at: now).utf8)).isSigned(by: key))
        #expect(try !SignedToken(compact: Array(try second.token(at: now).utf8)).isSigned(by: key))
    }

    @Test(
        arguments: [
            ("alg", "ES384"), ("alg", "RS256"), ("alg", "ES256K"), ("alg", "HS256"), ("alg", ""), ("use", "enc"),
            ("use", "SIG"), ("kty", "RSA"), ("crv", "P-521"), ("d", "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"),
        ])
    func `a key for another purpose is ignored`(name: String, value: String) throws {
        let key = try TestIssuer().publicKey
        var members = Dictionary(uniqueKeysWithValues: key.members.map { ($0.key, $0.value) })
        #expect(try Self.set(TestIssuer.keySet([JSONObject(members)]))["first"] != nil)
        members[name] = .string(value)
        #expect(throws: TokenKeysError.noUsableKey) { try Self.set(TestIssuer.keySet([JSONObject(members)])) }
    }

    @Test func `a key whose operations exclude verification is ignored`() throws {
        let key = try TestIssuer().publicKey
        var members = Dictionary(uniqueKeysWithValues: key.members.map { ($0.key, $0.value) })
        members["key_ops"] = .array(["verify"])
        #expect(try Self.set(TestIssuer.keySet([JSONObject(members)]))["first"] != nil)
        members["key_ops"] = .array(["sign"])
        #expect(throws: TokenKeysError.noUsableKey) { try Self.set(TestIssuer.keySet([JSONObject(members)])) }
    }

    @Test func `keys of a disallowed algorithm are ignored`() throws {
        let set = TestIssuer.keySet([try TestIssuer().publicKey])
        #expect(throws: TokenKeysError.noUsableKey) { try Self.set(set, allowing: [.rs256, .es384]) }
        #expect(try Self.set(set, allowing: [.es256])["first"]?.algorithm == .es256)
    }

    @Test func `a set has at most 100 keys, each member once`() throws {
        let key = try TestIssuer().publicKey
        #expect(throws: TokenKeysError.malformed) { try Self.set(TestIssuer.keySet(Array(repeating: key, count: 101))) }
        #expect(try Self.set(TestIssuer.keySet(Array(repeating: key, count: 100)))["first"] != nil)
        let twice = TestIssuer.keySet([key]).replacing(#""kty":"EC""#, with: #""kty":"EC","kty":"EC""#)
        #expect(throws: TokenKeysError.malformed) { try Self.set(twice) }
    }
}
