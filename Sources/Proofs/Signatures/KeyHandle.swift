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

    var kind: PublicKey.Kind {
        switch EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_RSA: return .rsa(bits: Int(EVP_PKEY_get_bits(pointer)))
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 64)
            guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else { return .other }
            let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return Curve.allCases.first { $0.groupName == text }.map { .ellipticCurve($0) } ?? .other
        case EVP_PKEY_ED25519: return .ed25519
        default: return .other
        }
    }
}
