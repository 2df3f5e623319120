import Proofs

/// The public keys of a token issuer (a JWK Set, RFC 7517 section 5).
package struct TokenKeySet: Sendable {
    package static let maximumSize = 256 * 1024
    private static let maximumCount = 100

    /// The keys by `kid`. The identifier of a key without `kid` is empty.
    private var keys: [ByteKey: TokenKey] = [:]

    /// Reads a set. Keys for other purposes and of unknown or disallowed kinds are ignored, as RFC 7517 requires.
    ///
    /// - Throws: `TokenKeysError` if the bytes are not a set or the set has no usable key.
    package init(_ bytes: [UInt8], allowing allowed: Set<TokenAlgorithm>) throws(TokenKeysError) {
        guard case .object(let set)? = try? JSONParser.parse(bytes, limits: .init(bytes: Self.maximumSize)),
            case .array(let elements) = set["keys"], elements.count <= Self.maximumCount
        else { throw .malformed }
        for case .object(let element) in elements {
            guard let (identifier, key) = Self.key(element, allowing: allowed), keys[identifier] == nil else {
                continue
            }
            keys[identifier] = key
        }
        guard !keys.isEmpty else { throw .noUsableKey }
    }

    package subscript(identifier: String) -> TokenKey? { keys[ByteKey(identifier)] }

    private static func key(_ element: JSONObject, allowing allowed: Set<TokenAlgorithm>) -> (ByteKey, TokenKey)? {
        func text(_ name: String) -> String? {
            if case .string(let text) = element[name] { text } else { nil }
        }
        guard (text("use") ?? "sig").hasSameBytes(as: "sig") else { return nil }
        if case .array(let operations) = element["key_ops"], !operations.contains("verify") { return nil }
        guard let key = PublicKey(jwk: element) else { return nil }
        let named = text("alg").map(TokenAlgorithm.init(rawValue:))
        guard let algorithm = named ?? TokenAlgorithm(keyKind: key.kind), allowed.contains(algorithm) else {
            return nil
        }
        return TokenKey(key, for: algorithm).map { (ByteKey(text("kid") ?? ""), $0) }
    }
}
