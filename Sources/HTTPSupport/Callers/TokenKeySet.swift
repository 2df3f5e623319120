import JWTKit
import Signatures
import StrictJSON

/// A public key with which an issuer signs tokens, for one algorithm.
package struct TokenKey: Sendable {
    package let algorithm: TokenAlgorithm
    /// This key alone, so that a token leads to no other.
    private let keys: JWTKeyCollection

    package init(_ key: JWK, for algorithm: TokenAlgorithm) async throws {
        self.algorithm = algorithm
        keys = try await JWTKeyCollection().add(jwk: key)
    }

    /// - Throws: When the signature does not hold, or the payload is of another shape.
    package func verify<Payload: JWTPayload>(_ token: [UInt8]) async throws -> Payload {
        try await keys.verify(token)
    }
}

/// The public keys of an issuer of tokens (a JWK Set, RFC 7517 section 5).
package struct TokenKeySet: Sendable {
    package static let maximumSize = 256 * 1024
    private static let maximumCount = 100
    /// Bits of an RSA modulus (RFC 7518 section 3.3 asks for the lower bound).
    private static let modulusSizes = 2048...8192

    /// By the key's identifier; empty for a key without.
    private var keys: [String: TokenKey] = [:]

    /// Reads a set. Keys for other purposes, and of kinds that are unknown or not allowed, are left out, as RFC 7517 asks.
    ///
    /// - Throws: `TokenKeysError` when it is no set, or has no key that can be used.
    package init(_ bytes: [UInt8], allowing allowed: Set<TokenAlgorithm>) async throws(TokenKeysError) {
        guard case .object(let set)? = try? JSONParser.parse(bytes, limits: .init(bytes: Self.maximumSize)),
            case .array(let elements) = set["keys"], elements.count <= Self.maximumCount
        else { throw .malformed }
        for case .object(let element) in elements {
            guard let (key, algorithm) = Self.key(element, allowing: allowed) else { continue }
            let identifier = key.keyIdentifier?.string ?? ""
            guard keys[identifier] == nil, let key = try? await TokenKey(key, for: algorithm) else { continue }
            keys[identifier] = key
        }
        guard !keys.isEmpty else { throw .noUsableKey }
    }

    package subscript(identifier: String) -> TokenKey? { keys[identifier] }

    private static func key(_ element: JSONObject, allowing allowed: Set<TokenAlgorithm>) -> (JWK, TokenAlgorithm)? {
        func text(_ name: String) -> String? {
            if case .string(let text) = element[name] { text } else { nil }
        }
        guard let type = text("kty"), (text("use") ?? "sig") == "sig" else { return nil }
        if case .array(let operations) = element["key_ops"], !operations.contains("verify") { return nil }
        let named = text("alg").map(TokenAlgorithm.init(rawValue:))
        guard let algorithm = named ?? TokenAlgorithm(keyType: type, curve: text("crv")), algorithm.keyType == type,
            allowed.contains(algorithm)
        else { return nil }
        let identifier = JWKIdentifier(string: text("kid") ?? "")
        let standard = JWK.Algorithm(rawValue: algorithm.rawValue)
        switch type {
        case "RSA":
            guard let modulus = text("n"), let bytes = Base64.decode(Array(modulus.utf8)[...], .urlSafe),
                modulusSizes.contains(bytes.drop { $0 == 0 }.count * 8)
            else { return nil }
            return (.rsa(standard, identifier: identifier, modulus: modulus, exponent: text("e")), algorithm)
        case "EC":
            let curve = text("crv").flatMap(ECDSACurve.init(rawValue:))
            return (
                .ecdsa(standard, identifier: identifier, x: text("x"), y: text("y"), curve: curve), algorithm
            )
        default:
            return (
                .octetKeyPair(standard, identifier: identifier, x: text("x"), y: nil, curve: .ed25519), algorithm
            )
        }
    }
}
