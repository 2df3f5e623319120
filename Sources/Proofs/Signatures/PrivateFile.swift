import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

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
