import COpenSSL
import SwiftASN1

/// A key that verifies signatures, from a certificate or a JWK.
public struct PublicKey: Sendable {
    /// The kinds of keys that Till distinguishes.
    public enum Kind: Sendable, Equatable {
        case ellipticCurve(Curve)
        case rsa(bits: Int)
        case ed25519
        case other
    }

    let handle: KeyHandle
    public let kind: Kind

    init(handle: KeyHandle) {
        self.handle = handle
        kind = handle.kind
    }

    /// Reads a SubjectPublicKeyInfo in DER (RFC 5280 section 4.1.2.7). Test vectors contain keys in this form.
    package init?(der: [UInt8]) {
        defer { ERR_clear_error() }
        guard let parsed = OpenSSLMemory.object(in: der, { d2i_PUBKEY(nil, $0, $1) }) else { return nil }
        self.init(handle: KeyHandle(owning: parsed.pointer))
    }

    /// Reads a SubjectPublicKeyInfo from PEM (RFC 7468 section 13).
    public init?(pem: String) {
        guard let der = Base64.pem(pem, "PUBLIC KEY") else { return nil }
        self.init(der: der)
    }

    /// Verifies an ECDSA signature over P-256 and SHA-256 in JWS form: r and s of 32 bytes each (RFC 7518 section 3.4).
    ///
    /// - Returns: False for other keys, other lengths, and any r or s outside 1 to n - 1.
    public func verifiesES256(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        verifiesES256(signature, overDigest: DigestAlgorithm.sha256.digest(of: message))
    }

    /// Verifies the same signature with the SHA-256 of the message.
    public func verifiesES256(_ signature: [UInt8], overDigest digest: [UInt8]) -> Bool {
        verifies(signature, overDigest: digest, on: .p256)
    }

    /// Verifies the same form over P-384 and SHA-384, with r and s of 48 bytes each.
    public func verifiesES384(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        verifies(signature, overDigest: Curve.p384.digest.digest(of: message), on: .p384)
    }

    /// Verifies the same form over P-521 and SHA-512, with r and s of 66 bytes each.
    public func verifiesES512(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        verifies(signature, overDigest: Curve.p521.digest.digest(of: message), on: .p521)
    }

    private func verifies(_ signature: [UInt8], overDigest digest: [UInt8], on curve: Curve) -> Bool {
        guard kind == .ellipticCurve(curve) else { return false }
        // EVP decides about what the table refuses, so no defect of a table refuses a valid signature.
        if let multiples = handle.multiples, multiples.verifies(signature, overDigest: digest) { return true }
        guard let encoded = ECDSASignature(jws: signature, on: curve)?.der else { return false }
        return handle.verifies(encoded, overDigest: digest, form: .ecdsa)
    }

    /// Verifies an Ed25519 signature (RFC 8032 section 5.1, RFC 8037 section 3.1).
    ///
    /// - Returns: False for other keys.
    public func verifiesEd25519(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        kind == .ed25519 && handle.verifiesEd25519(signature, over: message)
    }

    /// Verifies an ECDSA signature over P-256 and SHA-256 in DER (RFC 3279 section 2.2.3).
    ///
    /// - Returns: False for other keys.
    public func verifiesECDSA(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        guard kind == .ellipticCurve(.p256) else { return false }
        return handle.verifies(signature, overDigest: DigestAlgorithm.sha256.digest(of: message), form: .ecdsa)
    }

    /// Verifies an RSA PKCS#1 v1.5 signature (RFC 8017 section 8.2), as in app receipts and signed purchases of Google Play.
    ///
    /// - Returns: False if the key is not an RSA key of at least 2048 bits.
    public func verifiesRSA(_ signature: [UInt8], over message: [UInt8], digest: DigestAlgorithm) -> Bool {
        verifiesRSA(signature, overDigest: digest.digest(of: message), algorithm: digest)
    }

    /// Verifies the same signature with the digest of the message.
    public func verifiesRSA(_ signature: [UInt8], overDigest digest: [UInt8], algorithm: DigestAlgorithm) -> Bool {
        guard case .rsa(let bits) = kind, bits >= 2048 else { return false }
        return handle.verifies(signature, overDigest: digest, form: .rsa(algorithm))
    }

    /// Verifies an RSA-PSS signature (RFC 8017 section 8.1) in JWS form (RFC 7518 section 3.5). The salt is as long as
    /// the digest, and MGF1 uses the same hash function.
    ///
    /// - Returns: False if the key is not an RSA key of at least 2048 bits.
    public func verifiesPSS(_ signature: [UInt8], over message: [UInt8], digest: DigestAlgorithm) -> Bool {
        // OpenSSL would accept a signature without its leading zeros as the same number.
        guard case .rsa(let bits) = kind, bits >= 2048, signature.count == (bits + 7) / 8 else { return false }
        return handle.verifies(signature, overDigest: digest.digest(of: message), form: .rsaPSS(digest))
    }
}

extension PublicKey: Equatable {
    /// True if both are the same key, not only of the same kind.
    public static func == (left: PublicKey, right: PublicKey) -> Bool {
        defer { ERR_clear_error() }
        return EVP_PKEY_eq(left.handle.pointer, right.handle.pointer) == 1
    }
}

extension PublicKey {
    /// Returns the key as SubjectPublicKeyInfo in PEM (RFC 7468 section 13).
    public func pem() throws -> String {
        try KeyHandle.pem { PEM_write_bio_PUBKEY($0, handle.pointer) }
    }

    /// The accepted sizes of an RSA modulus in bits. RFC 7518 section 3.3 defines the lower bound.
    static let modulusSizes = 2048...8192
    /// The accepted exponents of an RSA key. Larger ones are not in use, and the time of a verification grows with the
    /// exponent.
    private static let exponents: ClosedRange<UInt64> = 3...(1 << 33 - 1)
    /// The members that make a key secret (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1).
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Reads a public key from a JWK (RFC 7517): RSA, P-256, P-384 and P-521 (RFC 7518 section 6), or Ed25519 (RFC 8037
    /// section 2). The caller checks the members that define the key's use.
    ///
    /// - Returns: Nil for other types, for keys with private members, and for RSA keys outside 2048 to 8192 bits. Nil
    ///   also if coordinates have the wrong length or are not on the curve.
    public init?(jwk: JSONObject) {
        guard !Self.privateMembers.contains(where: { jwk[$0] != nil }), let type = jwk.text("kty") else { return nil }
        let information: [UInt8]?
        if type.hasSameBytes(as: "RSA") {
            information = Self.rsaInformation(jwk)
        } else if type.hasSameBytes(as: "EC") {
            information = Self.ellipticCurveInformation(jwk)
        } else if type.hasSameBytes(as: "OKP") {
            information = Self.ed25519Information(jwk)
        } else {
            return nil
        }
        guard let information else { return nil }
        self.init(der: information)
    }

    /// The SubjectPublicKeyInfo of RSA (RFC 3279 section 2.3.1).
    private static func rsaInformation(_ jwk: JSONObject) -> [UInt8]? {
        // The limit has one extra byte, because some issuers write a leading zero.
        guard let modulus = jwk.number("n", maximumSize: modulusSizes.upperBound / 8 + 1), let first = modulus.first,
            modulusSizes.contains(modulus.count * 8 - first.leadingZeroBitCount), isOdd(modulus),
            let exponent = jwk.number("e", maximumSize: 8), isOdd(exponent),
            exponents.contains(exponent.reduce(0) { $0 << 8 | UInt64($1) })
        else { return nil }
        var key = DER.Serializer()
        key.appendConstructedNode(identifier: .sequence) { numbers in
            numbers.appendUnsigned(modulus)
            numbers.appendUnsigned(exponent)
        }
        return try? subjectPublicKeyInfo(key.serializedBytes) { algorithm in
            try algorithm.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.rsaEncryption)
            try algorithm.serialize(ASN1Null())
        }
    }

    /// The SubjectPublicKeyInfo of an elliptic curve (RFC 5480 section 2). OpenSSL refuses points outside the curve.
    private static func ellipticCurveInformation(_ jwk: JSONObject) -> [UInt8]? {
        guard let name = jwk.text("crv"),
            let curve = Curve.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }),
            let x = jwk.bytes("x", maximumSize: curve.size), x.count == curve.size,
            let y = jwk.bytes("y", maximumSize: curve.size), y.count == curve.size
        else { return nil }
        return try? subjectPublicKeyInfo([0x04] + x + y) { algorithm in
            try algorithm.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.idEcPublicKey)
            try algorithm.serialize(curve.objectIdentifier)
        }
    }

    /// The SubjectPublicKeyInfo of Ed25519 (RFC 8410 section 4).
    private static func ed25519Information(_ jwk: JSONObject) -> [UInt8]? {
        guard let name = jwk.text("crv"), name.hasSameBytes(as: "Ed25519"),
            let x = jwk.bytes("x", maximumSize: 32), x.count == 32
        else { return nil }
        return try? subjectPublicKeyInfo(x) { try $0.serialize([1, 3, 101, 112] as ASN1ObjectIdentifier) }
    }

    private static func subjectPublicKeyInfo(
        _ key: [UInt8],
        algorithm: (inout DER.Serializer) throws -> Void
    ) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { information in
            try information.appendConstructedNode(identifier: .sequence, algorithm)
            try information.serialize(ASN1BitString(bytes: key[...]))
        }
        return serializer.serializedBytes
    }

    private static func isOdd(_ number: [UInt8]) -> Bool {
        number.last.map { $0 & 1 == 1 } ?? false
    }
}

extension JSONObject {
    /// The bytes of a base64url member. Nil, without decoding, if there are more than `maximumSize`.
    fileprivate func bytes(_ name: String, maximumSize: Int) -> [UInt8]? {
        guard let text = text(name), text.utf8.count <= (maximumSize * 4 + 2) / 3 else { return nil }
        return Base64.decode(text.utf8, .urlSafe)
    }

    /// A number (RFC 7518 section 2, Base64urlUInt) without leading zeros.
    fileprivate func number(_ name: String, maximumSize: Int) -> [UInt8]? {
        bytes(name, maximumSize: maximumSize).map { Array($0.drop { $0 == 0 }) }
    }
}

extension DER.Serializer {
    /// - Parameter number: The number without leading zeros.
    fileprivate mutating func appendUnsigned(_ number: [UInt8]) {
        appendPrimitiveNode(identifier: .integer) { bytes in
            if let first = number.first, first >= 0x80 { bytes.append(0) }
            bytes.append(contentsOf: number)
        }
    }
}

extension Curve {
    fileprivate var objectIdentifier: ASN1ObjectIdentifier {
        switch self {
        case .p256: ASN1ObjectIdentifier.NamedCurves.secp256r1
        case .p384: ASN1ObjectIdentifier.NamedCurves.secp384r1
        case .p521: ASN1ObjectIdentifier.NamedCurves.secp521r1
        }
    }
}

/// RSA keys as base64 of a SubjectPublicKeyInfo in DER (RFC 5280 section 4.1.2.7). The Play Console shows the licensing key of an app in this
/// form.
extension PublicKey {
    /// The maximum length of a key in base64. A key of 8192 bits has 1416 characters.
    public static let maximumInformationSize = 2048

    /// Reads an RSA key of 2048 to 8192 bits.
    ///
    /// - Parameter base64: Standard base64 with padding, without white space.
    public init(rsaInformation base64: some StringProtocol) throws(RSAKeyError) {
        guard base64.utf8.count <= Self.maximumInformationSize, let der = Base64.decode(base64.utf8),
            let key = PublicKey(der: der), key.information == der
        else { throw .unreadable }
        guard case .rsa(let bits) = key.kind else { throw .notRSA }
        guard Self.modulusSizes.contains(bits) else { throw .size(bits: bits) }
        self = key
    }

    /// The SubjectPublicKeyInfo in base64.
    ///
    /// - Throws: `OpenSSLError` if OpenSSL cannot encode the key.
    public func informationText() throws -> String {
        guard let information else { throw OpenSSLError("encode a public key") }
        return Base64.encode(information)
    }

    /// The SHA-256 of the SubjectPublicKeyInfo.
    public var fingerprint: [UInt8] { DigestAlgorithm.sha256.digest(of: information ?? []) }

    /// The SubjectPublicKeyInfo in DER. Nil if OpenSSL cannot encode the key.
    private var information: [UInt8]? {
        defer { ERR_clear_error() }
        return OpenSSLMemory.bytes { i2d_PUBKEY(handle.pointer, $0) }
    }
}

/// A text that is no RSA key with which signatures can be verified.
public enum RSAKeyError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The text is not base64 of exactly one SubjectPublicKeyInfo in DER.
    case unreadable
    case notRSA
    /// The modulus is shorter than 2048 or longer than 8192 bits.
    case size(bits: Int)

    public var description: String {
        switch self {
        case .unreadable:
            "The key is not the base64 of a public key in DER. Copy it whole, without line breaks."
        case .notRSA: "The key is no RSA key. Copy the RSA key of the app."
        case .size(let bits): "The RSA key has \(bits) bits. Use a key of 2048 to 8192 bits."
        }
    }
}
