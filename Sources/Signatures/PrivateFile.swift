import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Files that only their owner may read (mode 0600): keys and databases.
public enum PrivateFile {
    /// A file could not be made private, with the system's reason.
    public struct Failure: Error, CustomStringConvertible {
        public let path: String
        public let reason: String

        public var description: String { "\(path) cannot be written: \(reason)." }
    }

    /// Makes an empty file unless there is one, so that what is written to it later is private from the first byte.
    public static func ensureExists(at url: URL) throws(Failure) {
        let descriptor = open(url.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url) }
        close(descriptor)
    }

    /// Runs `body` while no other process, and no other thread, holds the lock that a file stands for; the file stays.
    public static func withLock<Value>(_ url: URL, _ body: () throws -> Value) throws -> Value {
        let descriptor = open(url.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(url) }
        // Closing lets go of the lock, and so does the process's end.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure(url) }
        }
        return try body()
    }

    /// Writes a new file and has it on disk before returning.
    ///
    /// - Throws: `Failure`, also when the file exists already.
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

    /// Writes a file in place of one that may be there: whoever reads it sees the one or the other, whole.
    public static func replace(_ url: URL, with bytes: [UInt8]) throws(Failure) {
        let unfinished = url.appendingPathExtension("unfinished")
        // What a crash left behind.
        unlink(unfinished.path)
        try create(bytes, at: unfinished)
        guard rename(unfinished.path, url.path) == 0 else { throw failure(url) }
    }

    private static func failure(_ url: URL) -> Failure {
        Failure(path: url.path, reason: String(cString: strerror(errno)).lowercased())
    }
}
