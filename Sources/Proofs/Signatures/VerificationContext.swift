import COpenSSL

/// An OpenSSL context for verifying signatures of one form under one key. It frees the context.
///
/// Preparing a context takes a fifth of the time of a P-256 verification, and as long as an RSA verification. A
/// verification leaves it unchanged, so a key caches its contexts (`KeyHandle.verifies`).
///
/// The class is unchecked because the pointer refers to C memory. Only one caller uses a context at a time: the one
/// that has taken it from its key's list.
final class VerificationContext: @unchecked Sendable {
    /// The form of a signature, independent of the key.
    enum Form: Equatable {
        /// ECDSA in DER.
        case ecdsa
        /// RSA PKCS#1 v1.5 over a digest of this algorithm.
        case rsa(DigestAlgorithm)
        /// RSA-PSS over a digest of this algorithm, with a mask by the same algorithm and a salt as long as the digest.
        case rsaPSS(DigestAlgorithm)
    }

    let form: Form
    private let pointer: OpaquePointer

    /// - Parameter key: An `EVP_PKEY`. The context keeps its own reference.
    /// - Returns: Nil if OpenSSL cannot verify signatures of the form with the key.
    init?(form: Form, key: OpaquePointer) {
        guard let pointer = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return nil }
        self.form = form
        self.pointer = pointer
        guard EVP_PKEY_verify_init(pointer) == 1 else { return nil }
        switch form {
        case .ecdsa: break
        case .rsa(let algorithm):
            guard EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_PADDING) == 1,
                EVP_PKEY_CTX_set_signature_md(pointer, algorithm.implementation) == 1
            else { return nil }
        case .rsaPSS(let algorithm):
            guard EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_signature_md(pointer, algorithm.implementation) == 1,
                EVP_PKEY_CTX_set_rsa_mgf1_md(pointer, algorithm.implementation) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(pointer, RSA_PSS_SALTLEN_DIGEST) == 1
            else { return nil }
        }
    }

    deinit {
        EVP_PKEY_CTX_free(pointer)
    }

    func verifies(_ signature: [UInt8], overDigest digest: [UInt8]) -> Bool {
        EVP_PKEY_verify(pointer, signature, signature.count, digest, digest.count) == 1
    }
}
