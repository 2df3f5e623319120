import COpenSSL

/// Comparison of secrets, in a time that does not tell where they differ.
public enum ConstantTime {
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
