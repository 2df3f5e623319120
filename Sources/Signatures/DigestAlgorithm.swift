import COpenSSL

/// The hash functions that proofs, tokens and the ledger use, computed by OpenSSL.
public enum DigestAlgorithm: String, Sendable, CaseIterable {
    /// Only in app receipts of Apple's signers before 2023.
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    /// Only in the signatures of tokens.
    case sha512 = "SHA-512"

    // Made anew for each kind of collection by who uses it: as generic code it took longer than the hash.
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

    /// OpenSSL's own, which lives as long as the program.
    var implementation: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }
}
