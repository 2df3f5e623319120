import Foundation
import HTTPSupport
import Proofs
import TestSupport

/// Tokens that another library signed, which has its own cryptography: `oracle_tokens.py` made them with pycryptodome.
struct OracleTokens: Decodable {
    /// An issuer with a key for one algorithm.
    struct Issuer: Decodable {
        private let key: [String: String]
        /// A token of alice, which expires a minute after the start of `ManualClock`.
        let token: String
        /// The same header and claims, signed by another key for the algorithm.
        let strangersToken: String
        /// A token whose signature begins with a zero; nil for an algorithm other than RSA.
        let tokenWithLeadingZero: String?

        /// The public key as a JWK.
        var publicKey: JSONObject { JSONObject(key.mapValues(JSONValue.string)) }

        /// The key as Till's type.
        var tokenKey: TokenKey {
            get throws {
                let set = Array(TestIssuer.keySet([publicKey]).utf8)
                guard let algorithm = key["alg"].flatMap(TokenAlgorithm.init), let identifier = key["kid"],
                    let found = try TokenKeySet(set, allowing: [algorithm])[identifier]
                else { throw NoKey() }
                return found
            }
        }
    }

    /// A token whose header names another algorithm than the one that signed it. All algorithms of RSA have one key.
    struct Misnamed: Decodable {
        let signing: String
        let named: String
        let token: String
    }

    private let issuers: [String: Issuer]
    let misnamed: [Misnamed]

    private static let all = Result {
        try JSONDecoder().decode(
            OracleTokens.self, from: Data(try Project.text("Tests/HTTPSupport/oracle-tokens.json").utf8))
    }

    static var misnamed: [Misnamed] { get throws { try all.get().misnamed } }

    static func issuer(_ algorithm: TokenAlgorithm) throws -> Issuer {
        guard let issuer = try all.get().issuers[algorithm.rawValue] else { throw NoKey() }
        return issuer
    }

    private struct NoKey: Error {}
}
