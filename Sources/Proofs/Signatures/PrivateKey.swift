import COpenSSL
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A signing key. It leaves the process only as PEM, for its file.
public struct PrivateKey: Sendable {
    let handle: KeyHandle

    public var publicKey: PublicKey { PublicKey(handle: handle) }

    /// Generates a key with OpenSSL's random generator.
    public static func generate(_ curve: Curve) throws -> PrivateKey {
        let context = try generationContext("EC")
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_CTX_set_group_name(context, curve.groupName) == 1 else {
            throw OpenSSLError("choose \(curve.rawValue)")
        }
        return try generate(context)
    }

    /// Generates an RSA key of 2048 bits, the size of all signers of app receipts and of the keys of apps on Google Play.
    public static func generateRSA() throws -> PrivateKey {
        let context = try generationContext("RSA")
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1 else { throw OpenSSLError("choose 2048 bits") }
        return try generate(context)
    }

    private static func generationContext(_ algorithm: String) throws -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
            throw OpenSSLError("make an \(algorithm) key")
        }
        guard EVP_PKEY_keygen_init(context) == 1 else {
            EVP_PKEY_CTX_free(context)
            throw OpenSSLError("make an \(algorithm) key")
        }
        return context
    }

    private static func generate(_ context: OpaquePointer) throws -> PrivateKey {
        var pointer: OpaquePointer?
        guard EVP_PKEY_generate(context, &pointer) == 1, let pointer else { throw OpenSSLError("make a key") }
        return PrivateKey(handle: KeyHandle(owning: pointer))
    }

    /// Returns the key as unencrypted PKCS#8 in PEM.
    public func pem() throws -> String {
        try KeyHandle.pem { PEM_write_bio_PKCS8PrivateKey($0, handle.pointer, nil, nil, 0, nil, nil) }
    }

    /// Signs with ECDSA over P-256 and SHA-256, in JWS form: r and s of 32 bytes each (RFC 7518 section 3.4).
    public func signES256(_ message: [UInt8]) throws -> [UInt8] {
        guard handle.kind == .ellipticCurve(.p256),
            let signature = ECDSASignature(derOnP256: try sign(message, digest: .sha256))
        else { throw OpenSSLError("sign with ES256: the key is not on P-256") }
        return signature.jws
    }

    /// Signs with ECDSA over P-256 and SHA-256, in DER.
    public func signECDSA(_ message: [UInt8]) throws -> [UInt8] {
        guard handle.kind == .ellipticCurve(.p256) else { throw OpenSSLError("sign: the key is not on P-256") }
        return try sign(message, digest: .sha256)
    }

    /// Signs with RSA PKCS#1 v1.5 (RFC 8017 section 8.2).
    public func signRSA(_ message: [UInt8], digest: DigestAlgorithm) throws -> [UInt8] {
        guard case .rsa = handle.kind else { throw OpenSSLError("sign with RSA: the key is of another kind") }
        return try sign(message, digest: digest)
    }

    private func sign(_ message: [UInt8], digest: DigestAlgorithm) throws -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw OpenSSLError("sign") }
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        guard EVP_DigestSignInit(context, nil, digest.implementation, nil, handle.pointer) == 1,
            EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { throw OpenSSLError("sign") }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
            throw OpenSSLError("sign")
        }
        return Array(signature.prefix(length))
    }
}

extension PrivateKey {
    /// Reads an unencrypted PKCS#8 key from PEM (RFC 7468 section 10).
    public init(pem: String) throws {
        let bytes = Array(pem.utf8)
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLError("read a key") }
        defer { BIO_free(bio) }
        guard BIO_write(bio, bytes, Int32(bytes.count)) == bytes.count else { throw OpenSSLError("read a key") }
        // Without this password callback, OpenSSL would prompt on the terminal.
        guard let pointer = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil) else {
            throw OpenSSLError("read a private key: it must be an unencrypted PKCS#8 key in PEM")
        }
        handle = KeyHandle(owning: pointer)
    }

    /// Reads an unencrypted PKCS#8 key in base64, as in `.storekit` files.
    public init(pkcs8 base64: String) throws {
        try self.init(pem: "-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n")
    }
}

/// Files that only their owner may read and write (mode 0600), for keys and databases.
public enum PrivateFile {
    /// A failure to write a private file, with the system's reason.
    public struct Failure: Error, CustomStringConvertible {
        public let path: String
        public let reason: String

        public var description: String { "Cannot write \"\(path)\": \(reason)." }
    }

    /// Creates an empty file unless one exists, so later content is private from the first byte.
    public static func ensureExists(at url: URL) throws(Failure) {
        if access(url.path, F_OK) == 0 {
            // Opening and closing a database would release the locks that this process holds on it (POSIX fcntl).
            guard access(url.path, R_OK | W_OK) == 0 else { throw failure(url) }
            return
        }
        let descriptor = open(url.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url) }
        close(descriptor)
    }

    /// Runs `body` while it holds the lock of a file. No other process or thread can hold it. The file remains.
    public static func withLock<Value>(_ url: URL, _ body: () throws -> Value) throws -> Value {
        let descriptor = open(url.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url) }
        // Closing the descriptor releases the lock, and so does the end of the process.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure(url) }
        }
        return try body()
    }

    /// Creates a file and flushes it to the disk.
    ///
    /// - Throws: `Failure`, also if the file already exists.
    public static func create(_ bytes: [UInt8], at url: URL) throws(Failure) {
        let descriptor = open(url.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw failure(url) }
            written += max(count, 0)
        }
        guard fsync(descriptor) == 0 else { throw failure(url) }
    }

    /// Replaces a file atomically. Readers see either the old or the new file.
    public static func replace(_ url: URL, with bytes: [UInt8]) throws(Failure) {
        let unfinished = url.appendingPathExtension("unfinished")
        // Removes the file of a crashed attempt.
        unlink(unfinished.path)
        try create(bytes, at: unfinished)
        guard rename(unfinished.path, url.path) == 0 else { throw failure(url) }
    }

    private static func failure(_ url: URL) -> Failure {
        Failure(path: url.path, reason: String(cString: strerror(errno)).lowercased())
    }
}
