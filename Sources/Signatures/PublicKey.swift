import COpenSSL

/// A key that checks signatures, as it stands in a certificate.
public struct PublicKey: Sendable {
    /// What Till tells apart of a key's kind.
    public enum Kind: Sendable, Equatable {
        case ellipticCurve(Curve)
        case rsa(bits: Int)
        case other
    }

    let handle: KeyHandle
    public let kind: Kind

    init(handle: KeyHandle) {
        self.handle = handle
        kind = handle.kind
    }

    /// Checks an ECDSA signature in the form of JWS, r and s of 32 bytes each (RFC 7518 section 3.4), over P-256 and SHA-256.
    ///
    /// - Returns: false for any other key, any other length, and any r or s outside 1 to n - 1.
    public func verifiesES256(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        guard kind == .ellipticCurve(.p256), let encoded = ECDSASignature(jws: signature)?.der else { return false }
        return verifies(encoded, over: message, digest: .sha256)
    }

    /// Checks an RSA PKCS#1 v1.5 signature (RFC 8017 section 8.2), as app receipts carry it.
    ///
    /// - Returns: false for a key that is not RSA of 2048 bits or more.
    public func verifiesRSA(_ signature: [UInt8], over message: [UInt8], digest: DigestAlgorithm) -> Bool {
        guard case .rsa(let bits) = kind, bits >= 2048 else { return false }
        return verifies(signature, over: message, digest: digest)
    }

    private func verifies(_ signature: [UInt8], over message: [UInt8], digest: DigestAlgorithm) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard EVP_DigestVerifyInit(context, nil, digest.implementation, nil, handle.pointer) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

extension PublicKey: Equatable {
    /// Whether both are the same key, not merely of the same kind.
    public static func == (left: PublicKey, right: PublicKey) -> Bool {
        defer { ERR_clear_error() }
        return EVP_PKEY_eq(left.handle.pointer, right.handle.pointer) == 1
    }
}
