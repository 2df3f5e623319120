import Proofs

/// A public key with which an issuer signs tokens by one algorithm.
package struct TokenKey: Sendable {
    package let algorithm: TokenAlgorithm
    private let key: PublicKey

    /// - Returns: Nil if the algorithm uses another kind of key.
    package init?(_ key: PublicKey, for algorithm: TokenAlgorithm) {
        guard algorithm.accepts(key.kind) else { return nil }
        self.algorithm = algorithm
        self.key = key
    }

    /// Verifies a signature in JWS form.
    func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        switch algorithm {
        case .rs256: key.verifiesRSA(signature, over: message, digest: .sha256)
        case .rs384: key.verifiesRSA(signature, over: message, digest: .sha384)
        case .rs512: key.verifiesRSA(signature, over: message, digest: .sha512)
        case .ps256: key.verifiesPSS(signature, over: message, digest: .sha256)
        case .ps384: key.verifiesPSS(signature, over: message, digest: .sha384)
        case .ps512: key.verifiesPSS(signature, over: message, digest: .sha512)
        case .es256: key.verifiesES256(signature, over: message)
        case .es384: key.verifiesES384(signature, over: message)
        case .es512: key.verifiesES512(signature, over: message)
        case .edDSA: key.verifiesEd25519(signature, over: message)
        }
    }
}

/// The signature algorithms of users' tokens (RFC 7518 section 3.1, RFC 8037). They use key pairs, never shared
/// secrets.
package enum TokenAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"

    /// The algorithm of a key without `alg` (RFC 7517 section 4.4). Nil if the key cannot sign tokens.
    init?(keyKind: PublicKey.Kind) {
        switch keyKind {
        case .rsa: self = .rs256
        case .ellipticCurve(.p256): self = .es256
        case .ellipticCurve(.p384): self = .es384
        case .ellipticCurve(.p521): self = .es512
        case .ed25519: self = .edDSA
        case .other: return nil
        }
    }

    package func accepts(_ keyKind: PublicKey.Kind) -> Bool {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512:
            if case .rsa = keyKind { true } else { false }
        case .es256, .es384, .es512, .edDSA: Self(keyKind: keyKind) == self
        }
    }
}

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

    /// Reads the keys for RS256 in a JWK Set, or in an object of PEM texts by `kid`, each a certificate or a public key. Google
    /// publishes its keys in both forms. The dates of a certificate do not count: the keys count while Google publishes them.
    ///
    /// - Throws: `TokenKeysError` if the bytes have neither form, or no usable key.
    package init(identityKeys bytes: [UInt8]) throws(TokenKeysError) {
        guard case .object(let object)? = try? JSONParser.parse(bytes, limits: .init(bytes: Self.maximumSize)),
            object.members.count <= Self.maximumCount
        else { throw .malformed }
        if case .array? = object["keys"] {
            self = try TokenKeySet(bytes, allowing: [.rs256])
            return
        }
        for member in object.members {
            guard case .string(let pem) = member.value else { throw .malformed }
            if let key = (PublicKey(pem: pem) ?? Certificate(pem: pem)?.publicKey).flatMap({ TokenKey($0, for: .rs256) }
            ) {
                keys[ByteKey(member.key)] = key
            }
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

/// The keys of a token issuer are not usable.
package enum TokenKeysError: CodedError, Equatable {
    /// The file cannot be read.
    case unreadable(path: String)
    /// The address did not respond, or not with keys.
    case unreachable
    case malformed
    case noUsableKey

    package var code: String { "tokenKeysUnusable" }

    package var message: String { message(about: "jwt-keys", for: "jwt-algorithms") }

    /// The sentence about the keys of a setting, for some algorithms.
    func message(about setting: String, for algorithms: String) -> String {
        switch self {
        case .unreadable(let path): NamedFile.fault(of: path, namedBy: setting)
        case .unreachable: "The address of \(setting) did not return a JWK Set. Check the address and its server."
        case .malformed: "The content of \(setting) must be a JWK Set (RFC 7517)."
        case .noUsableKey:
            "The JWK Set of \(setting) has no key for \(algorithms). Keys must be public, and RSA keys need 2048 bits."
        }
    }
}
