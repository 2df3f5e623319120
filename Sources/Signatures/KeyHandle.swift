import COpenSSL
import Synchronization

/// An OpenSSL key, freed with its last owner.
///
/// Unchecked because the pointer is to C: it never changes, nothing alters the key after it was made or read, and
/// OpenSSL 3 allows a key to be used for signing and verifying from many threads at once.
final class KeyHandle: @unchecked Sendable {
    /// The most contexts kept, which is the most cores that check under one key at once without preparing one.
    private static let maximumContexts = 16

    let pointer: OpaquePointer
    /// The contexts that nobody is using; the lock is held to take one or to bring it back.
    private let contexts = Mutex<[VerificationContext]>([])

    /// - Parameter pointer: An `EVP_PKEY` whose one reference passes to this object.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// Checks a signature over a digest; false, too, when the key is not of the form's kind.
    func verifies(_ signature: [UInt8], overDigest digest: [UInt8], form: VerificationContext.Form) -> Bool {
        let kept = contexts.withLock { contexts in
            contexts.lastIndex { $0.form == form }.map { contexts.remove(at: $0) }
        }
        defer { ERR_clear_error() }
        guard let context = kept ?? VerificationContext(form: form, key: pointer) else { return false }
        // One that has failed is not used again, so that no failure can reach into another check.
        guard context.verifies(signature, overDigest: digest) else { return false }
        contexts.withLock { contexts in
            if contexts.count < Self.maximumContexts { contexts.append(context) }
        }
        return true
    }

    /// Checks an Ed25519 signature, which is made over a message instead of a digest (RFC 8032 section 5.1).
    ///
    /// - Precondition: The key is of Ed25519; others would be read with a hash of OpenSSL's choice.
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
