import COpenSSL

/// The hash function of RFC 1321. It is broken as a signature, and protects nothing here: other protocols derive identifiers with
/// it.
public enum MD5 {
    /// Returns the digest, 16 bytes; nil if OpenSSL's configuration excludes the function.
    public static func digest(of bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &digest, &length, EVP_md5(), nil) == 1 else { return nil }
        return Array(digest.prefix(Int(length)))
    }
}
