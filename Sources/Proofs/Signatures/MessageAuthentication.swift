import COpenSSL

/// Message authentication codes, computed by OpenSSL.
public enum MessageAuthentication {
    /// HMAC with SHA-256 (RFC 2104).
    public static func hmacSHA256(of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        hmac(.sha256, of: message, secret: secret)
    }

    /// HMAC with SHA-1 (RFC 2104), for one-time codes. The weakness of SHA-1 against collisions does not affect them (RFC 6238
    /// section 1.2).
    public static func hmacSHA1(of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        hmac(.sha1, of: message, secret: secret)
    }

    private static func hmac(_ algorithm: DigestAlgorithm, of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let result = HMAC(
            algorithm.implementation, secret, Int32(secret.count), message, message.count, &code, &length)
        precondition(result != nil, "OpenSSL has no HMAC")
        return Array(code.prefix(Int(length)))
    }
}
