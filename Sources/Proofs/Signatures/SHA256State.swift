import COpenSSL

/// An incremental SHA-256. A copy continues from its original's state, so a common prefix of messages is hashed once.
public struct SHA256State: Sendable {
    private var context = SHA256_CTX()

    public init() {
        SHA256_Init(&context)
    }

    public mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { _ = SHA256_Update(&context, $0.baseAddress, $0.count) }
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
