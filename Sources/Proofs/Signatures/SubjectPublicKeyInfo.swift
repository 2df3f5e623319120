import COpenSSL

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
        var start: UnsafeMutablePointer<UInt8>?
        let length = i2d_PUBKEY(handle.pointer, &start)
        guard length > 0, let start else { return nil }
        defer { CRYPTO_free(start, nil, 0) }
        return Array(UnsafeBufferPointer(start: start, count: Int(length)))
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
