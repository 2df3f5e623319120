import COpenSSL
import Synchronization

/// An owner of an OpenSSL key, which it frees.
///
/// The class is unchecked because the pointer refers to C memory. The pointer never changes, and the key does not
/// change after it was created or read. OpenSSL 3 allows signing and verifying with a key on many threads at once.
final class KeyHandle: @unchecked Sendable {
    /// The maximum number of cached contexts. This many cores can verify with one key at once without preparing a
    /// context.
    private static let maximumContexts = 16

    let pointer: OpaquePointer
    /// The unused contexts. The lock is held to take or return one.
    private let contexts = Mutex<[VerificationContext]>([])
    private let table = Mutex<KeyMultiples?>(nil)

    /// The table of a key that signs many proofs; nil for others.
    var multiples: KeyMultiples? {
        get { table.withLock(\.self) }
        set { table.withLock { $0 = newValue } }
    }

    /// - Parameter pointer: An `EVP_PKEY` whose only reference passes to this object.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// Verifies a signature of a digest. Returns false if the form does not fit the kind of the key.
    func verifies(_ signature: [UInt8], overDigest digest: [UInt8], form: VerificationContext.Form) -> Bool {
        let kept = contexts.withLock { contexts in
            contexts.lastIndex { $0.form == form }.map { contexts.remove(at: $0) }
        }
        defer { ERR_clear_error() }
        guard let context = kept ?? VerificationContext(form: form, key: pointer) else { return false }
        // A failed context is discarded, so a failure cannot affect another verification.
        guard context.verifies(signature, overDigest: digest) else { return false }
        contexts.withLock { contexts in
            if contexts.count < Self.maximumContexts { contexts.append(context) }
        }
        return true
    }

    /// Verifies an Ed25519 signature, which signs a message instead of a digest (RFC 8032 section 5.1).
    ///
    /// - Precondition: The key is an Ed25519 key. For other keys, OpenSSL would choose a hash function.
    func verifiesEd25519(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, nil, nil, pointer) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// The text that OpenSSL writes.
    ///
    /// - Parameter write: Returns 1 unless it fails.
    static func pem(_ write: (OpaquePointer) -> Int32) throws -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLError("write a key") }
        defer { BIO_free(bio) }
        var start: UnsafeMutablePointer<CChar>?
        guard write(bio) == 1, case let length = till_bio_bytes(bio, &start), let start, length > 0 else {
            throw OpenSSLError("write a key")
        }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    var kind: PublicKey.Kind {
        switch EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_RSA: return .rsa(bits: Int(EVP_PKEY_get_bits(pointer)))
        case EVP_PKEY_EC:
            let name = OpenSSLMemory.text { EVP_PKEY_get_group_name(pointer, $0, $1, nil) == 1 }
            return Curve.allCases.first { $0.groupName == name }.map { .ellipticCurve($0) } ?? .other
        case EVP_PKEY_ED25519: return .ed25519
        default: return .other
        }
    }
}

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
