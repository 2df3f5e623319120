import COpenSSL

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
        let pointer = der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_PUBKEY(nil, &next, bytes.count)
        }
        guard let pointer else { return nil }
        self.init(handle: KeyHandle(owning: pointer))
    }

    /// Reads a SubjectPublicKeyInfo from PEM (RFC 7468 section 13).
    public init?(pem: String) {
        let lines = pem.split(whereSeparator: \.isNewline)
        guard lines.first == "-----BEGIN PUBLIC KEY-----", lines.last == "-----END PUBLIC KEY-----",
            let der = Base64.decode(lines.dropFirst().dropLast().joined().utf8)
        else { return nil }
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
        guard kind == .ellipticCurve(curve), let encoded = ECDSASignature(jws: signature, on: curve)?.der else {
            return false
        }
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

    /// Verifies an RSA PKCS#1 v1.5 signature (RFC 8017 section 8.2), as in app receipts.
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
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLError("write a key") }
        defer { BIO_free(bio) }
        guard PEM_write_bio_PUBKEY(bio, handle.pointer) == 1 else { throw OpenSSLError("write a key") }
        var start: UnsafeMutablePointer<CChar>?
        let length = till_bio_bytes(bio, &start)
        guard let start, length > 0 else { throw OpenSSLError("write a key") }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }
}
