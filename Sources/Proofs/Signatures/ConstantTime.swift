import COpenSSL

/// A comparison of secrets whose time does not depend on their content.
public enum ConstantTime {
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
