import COpenSSL

/// The key derivation scrypt (RFC 7914), which takes time and memory by design.
package enum Scrypt {
    /// Derives a key from a password.
    ///
    /// - Parameter logarithmOfN: The binary logarithm of N. A key takes 128 · N · r bytes of memory.
    /// - Throws: `OpenSSLError` if there is not enough memory.
    package static func key(
        from password: String, salt: [UInt8], logarithmOfN: UInt8, r: UInt32, p: UInt32, length: Int
    ) throws(OpenSSLError) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: length)
        let bytes = password.utf8.map { CChar(bitPattern: $0) }
        // scrypt's own memory and a reserve.
        let memory = (UInt64(1) << logarithmOfN) * UInt64(r) * 128 + UInt64(r) * UInt64(p) * 128 + 65_536
        let status = EVP_PBE_scrypt(
            bytes, bytes.count, salt, salt.count, UInt64(1) << logarithmOfN, UInt64(r), UInt64(p), memory, &key, length)
        guard status == 1 else { throw OpenSSLError("EVP_PBE_scrypt") }
        return key
    }
}
