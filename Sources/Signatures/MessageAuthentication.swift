import COpenSSL

/// Message authentication codes, computed by OpenSSL.
public enum MessageAuthentication {
    /// HMAC with SHA-256 (RFC 2104).
    public static func hmacSHA256(of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let result = HMAC(
            DigestAlgorithm.sha256.implementation, secret, Int32(secret.count), message, message.count, &code, &length)
        precondition(result != nil, "OpenSSL has no HMAC")
        return Array(code.prefix(Int(length)))
    }
}
