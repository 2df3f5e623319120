import COpenSSL

/// An OpenSSL key, freed with its last owner.
///
/// Unchecked because the pointer is to C: it never changes, nothing alters the key after it was made or read, and
/// OpenSSL 3 allows a key to be used for signing and verifying from many threads at once.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: An `EVP_PKEY` whose one reference passes to this object.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    var kind: PublicKey.Kind {
        switch EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_RSA: return .rsa(bits: Int(EVP_PKEY_get_bits(pointer)))
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 64)
            guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else { return .other }
            let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return Curve.allCases.first { $0.groupName == text }.map { .ellipticCurve($0) } ?? .other
        default: return .other
        }
    }
}
