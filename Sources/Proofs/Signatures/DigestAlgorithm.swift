import COpenSSL

/// The hash functions of proofs, tokens and the ledger, computed by OpenSSL.
public enum DigestAlgorithm: String, Sendable, CaseIterable {
    /// The hash function of Apple's app receipts before 2023 only.
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    /// The hash function of token signatures only.
    case sha512 = "SHA-512"

    // Inlinable for specialization. As generic code, the copy took longer than the hash.
    @inlinable public func digest(of bytes: some Collection<UInt8>) -> [UInt8] {
        digest(ofContiguous: Array(bytes))
    }

    @usableFromInline func digest(ofContiguous contiguous: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let status = EVP_Digest(contiguous, contiguous.count, &digest, &length, implementation, nil)
        precondition(status == 1, "OpenSSL has no \(rawValue)")
        return Array(digest.prefix(Int(length)))
    }

    /// OpenSSL's static object.
    var implementation: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }
}
