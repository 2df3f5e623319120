import COpenSSL

/// OpenSSL's context for checking signatures of one form under one key, freed with its last owner.
///
/// Preparing one takes OpenSSL a fifth of the time that a P-256 signature takes to check, and as long as an RSA signature;
/// checking leaves it as it was. So a key lends out those it has (`KeyHandle.verifies`).
///
/// Unchecked because the pointer is to C: whoever takes one out of its key's list is its only user until it is back.
final class VerificationContext: @unchecked Sendable {
    /// What a signature is, apart from the key.
    enum Form: Equatable {
        /// ECDSA in DER.
        case ecdsa
        /// RSA PKCS#1 v1.5 over a digest of this algorithm.
        case rsa(DigestAlgorithm)
        /// RSA-PSS over a digest of this algorithm, which the mask is made with, too; the salt is as long as the digest.
        case rsaPSS(DigestAlgorithm)
    }

    let form: Form
    private let pointer: OpaquePointer

    /// - Parameter key: An `EVP_PKEY`, of which the context keeps a reference of its own.
    /// - Returns: nil when OpenSSL cannot check signatures of the form with the key.
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
