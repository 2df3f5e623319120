import COpenSSL

/// The hash functions of proofs, tokens and the ledger, computed by OpenSSL.
public enum DigestAlgorithm: String, Sendable, CaseIterable {
    /// The hash function of Apple's app receipts before 2023 and of Google Play's signed purchases only.
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
        // OpenSSL's function for all algorithms looks the algorithm up each time, which takes longer than a short text.
        if self == .sha256 {
            var state = SHA256State()
            state.update(contiguous[...])
            return state.digest()
        }
        guard let digest = Self.digest(of: contiguous, implementation) else {
            // Without it nothing can be verified, and an empty digest would equal that of any other bytes.
            preconditionFailure("OpenSSL has no \(rawValue)")
        }
        return digest
    }

    fileprivate static func digest(of bytes: [UInt8], _ implementation: OpaquePointer?) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &digest, &length, implementation, nil) == 1 else { return nil }
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

/// The hash function of RFC 1321. It is broken as a signature, and protects nothing here: other protocols derive identifiers with
/// it.
public enum MD5 {
    /// Returns the digest, 16 bytes; nil if OpenSSL's configuration excludes the function.
    public static func digest(of bytes: [UInt8]) -> [UInt8]? { DigestAlgorithm.digest(of: bytes, EVP_md5()) }
}

/// Message authentication codes, computed by OpenSSL.
public enum MessageAuthentication {
    /// HMAC (RFC 2104).
    ///
    /// - Parameter algorithm: SHA-1 only for one-time codes. Its weakness against collisions does not affect them (RFC 6238 section
    ///   1.2).
    public static func hmac(_ algorithm: DigestAlgorithm, of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let result = HMAC(
            algorithm.implementation, secret, Int32(secret.count), message, message.count, &code, &length)
        precondition(result != nil, "OpenSSL has no HMAC")
        return Array(code.prefix(Int(length)))
    }
}

/// An incremental SHA-256. A copy continues from its original's state, so a common prefix of messages is hashed once.
public struct SHA256State: Sendable {
    private var context = SHA256_CTX()

    public init() {
        SHA256_Init(&context)
    }

    public mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { _ = SHA256_Update(&context, $0.baseAddress, $0.count) }
    }

    public mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { _ = SHA256_Update(&context, $0.baseAddress, $0.count) }
    }

    /// The first bytes of the digest of the bytes hashed so far, as hexadecimal digits.
    public func hexadecimal(ofFirst count: Int) -> String {
        withDigest { UnsafeBufferPointer(rebasing: $0.prefix(count)).hexadecimal }
    }

    /// True if the digest of the bytes hashed so far is a given one. The comparison takes the same time for every other one.
    public func isEqual(to digest: [UInt8]) -> Bool {
        withDigest { $0.count == digest.count && CRYPTO_memcmp($0.baseAddress, digest, digest.count) == 0 }
    }

    /// Calls a function with the digest, which is on the stack.
    private func withDigest<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var context = context
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(SHA256_DIGEST_LENGTH)) { digest in
            SHA256_Final(digest.baseAddress, &context)
            return body(UnsafeBufferPointer(digest))
        }
    }

    /// The digest of the bytes hashed so far.
    public func digest() -> [UInt8] {
        var context = context
        return [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
            SHA256_Final(buffer.baseAddress, &context)
            count = Int(SHA256_DIGEST_LENGTH)
        }
    }
}
