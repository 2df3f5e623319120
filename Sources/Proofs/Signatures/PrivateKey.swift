import COpenSSL

/// A signing key. It leaves the process only as PEM, for its file.
public struct PrivateKey: Sendable {
    let handle: KeyHandle

    public var publicKey: PublicKey { PublicKey(handle: handle) }

    /// Generates a key with OpenSSL's random generator.
    public static func generate(_ curve: Curve) throws -> PrivateKey {
        let context = try generationContext("EC")
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_CTX_set_group_name(context, curve.groupName) == 1 else {
            throw OpenSSLError("choose \(curve.rawValue)")
        }
        return try generate(context)
    }

    /// Generates an RSA key of 2048 bits, the size of all signers of app receipts.
    public static func generateRSA() throws -> PrivateKey {
        let context = try generationContext("RSA")
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1 else { throw OpenSSLError("choose 2048 bits") }
        return try generate(context)
    }

    private static func generationContext(_ algorithm: String) throws -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
            throw OpenSSLError("make an \(algorithm) key")
        }
        guard EVP_PKEY_keygen_init(context) == 1 else {
            EVP_PKEY_CTX_free(context)
            throw OpenSSLError("make an \(algorithm) key")
        }
        return context
    }

    private static func generate(_ context: OpaquePointer) throws -> PrivateKey {
        var pointer: OpaquePointer?
        guard EVP_PKEY_generate(context, &pointer) == 1, let pointer else { throw OpenSSLError("make a key") }
        return PrivateKey(handle: KeyHandle(owning: pointer))
    }

    private init(handle: KeyHandle) {
        self.handle = handle
    }

    /// Reads an unencrypted PKCS#8 key from PEM (RFC 7468 section 10).
    public init(pem: String) throws {
        let bytes = Array(pem.utf8)
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLError("read a key") }
        defer { BIO_free(bio) }
        guard BIO_write(bio, bytes, Int32(bytes.count)) == bytes.count else { throw OpenSSLError("read a key") }
        // Without this password callback, OpenSSL would prompt on the terminal.
        guard let pointer = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil) else {
            throw OpenSSLError("read a private key: it must be an unencrypted PKCS#8 key in PEM")
        }
        handle = KeyHandle(owning: pointer)
    }

    /// Reads an unencrypted PKCS#8 key in base64, as in `.storekit` files.
    public init(pkcs8 base64: String) throws {
        try self.init(pem: "-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n")
    }

    /// Returns the key as unencrypted PKCS#8 in PEM.
    public func pem() throws -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLError("write a key") }
        defer { BIO_free(bio) }
        guard PEM_write_bio_PKCS8PrivateKey(bio, handle.pointer, nil, nil, 0, nil, nil) == 1 else {
            throw OpenSSLError("write a key")
        }
        var start: UnsafeMutablePointer<CChar>?
        let length = till_bio_bytes(bio, &start)
        guard let start, length > 0 else { throw OpenSSLError("write a key") }
        let bytes = UnsafeRawBufferPointer(start: start, count: length)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Signs with ECDSA over P-256 and SHA-256, in JWS form: r and s of 32 bytes each (RFC 7518 section 3.4).
    public func signES256(_ message: [UInt8]) throws -> [UInt8] {
        guard handle.kind == .ellipticCurve(.p256),
            let signature = ECDSASignature(derOnP256: try sign(message, digest: .sha256))
        else { throw OpenSSLError("sign with ES256: the key is not on P-256") }
        return signature.jws
    }

    /// Signs with ECDSA over P-256 and SHA-256, in DER.
    public func signECDSA(_ message: [UInt8]) throws -> [UInt8] {
        guard handle.kind == .ellipticCurve(.p256) else { throw OpenSSLError("sign: the key is not on P-256") }
        return try sign(message, digest: .sha256)
    }

    /// Signs with RSA PKCS#1 v1.5 (RFC 8017 section 8.2).
    public func signRSA(_ message: [UInt8], digest: DigestAlgorithm) throws -> [UInt8] {
        guard case .rsa = handle.kind else { throw OpenSSLError("sign with RSA: the key is of another kind") }
        return try sign(message, digest: digest)
    }

    private func sign(_ message: [UInt8], digest: DigestAlgorithm) throws -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw OpenSSLError("sign") }
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        guard EVP_DigestSignInit(context, nil, digest.implementation, nil, handle.pointer) == 1,
            EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { throw OpenSSLError("sign") }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
            throw OpenSSLError("sign")
        }
        return Array(signature.prefix(length))
    }
}
