import Foundation
import GRDB
import Proofs
import Vocabulary

/// The file of a SQLite database, and its auxiliary files.
struct DatabaseFile {
    /// The suffixes of the files that may hold a part of the database: the write-ahead log and the rollback journal.
    static let partSuffixes = ["-wal", "-journal"]

    let url: URL

    var exists: Bool { access(url.path, F_OK) == 0 }

    /// The existing files that hold a part of the database.
    var partSuffixes: [String] { Self.partSuffixes.filter { auxiliaryFile($0).exists } }

    func auxiliaryFile(_ suffix: String) -> DatabaseFile {
        DatabaseFile(url: URL(filePath: url.path + suffix, directoryHint: .notDirectory))
    }

    /// Returns true if both are names of one file.
    func isSame(as other: DatabaseFile) -> Bool {
        var (own, others) = (stat(), stat())
        guard stat(url.path, &own) == 0, stat(other.url.path, &others) == 0 else { return false }
        return own.st_dev == others.st_dev && own.st_ino == others.st_ino
    }

    /// Removes the file if it exists.
    func remove() throws(StorageFault) {
        guard unlink(url.path) != 0, errno != ENOENT else { return }
        throw StorageFault(cause: .readOnly, path: url.path)
    }

    func removeAuxiliaryFiles() throws(StorageFault) {
        for suffix in Self.partSuffixes + ["-shm"] { try auxiliaryFile(suffix).remove() }
    }

    /// Renames the file to the name of another, which it replaces. A reader sees all of the one file or of the other.
    func replace(_ other: DatabaseFile) throws(StorageFault) {
        guard rename(url.path, other.url.path) == 0 else {
            throw StorageFault(cause: .readOnly, path: other.url.path)
        }
    }

    /// Gives the file a second name, or copies it if the file system has no hard links.
    ///
    /// - Throws: `RestorationError`, `StorageFault`.
    func keep(as other: DatabaseFile) throws {
        if link(url.path, other.url.path) != 0 { try copy(to: other) }
    }

    /// Copies the file to a private file, and waits until the bytes are on the disk.
    ///
    /// - Throws: `RestorationError` if this file cannot be read; `StorageFault` if the other cannot be written.
    func copy(to other: DatabaseFile) throws {
        guard let input = NamedFile.handle(of: url, isRegular: true) else {
            throw RestorationError.unreadable(path: url.path)
        }
        defer { try? input.close() }
        func next() throws(RestorationError) -> Data? {
            do { return try input.read(upToCount: 1 << 20) } catch { throw .unreadable(path: url.path) }
        }
        do {
            try PrivateFile.ensureExists(at: other.url)
            FileOwner.matchFolder(of: other.url)
            let output = try FileHandle(forWritingTo: other.url)
            defer { try? output.close() }
            while let bytes = try next(), !bytes.isEmpty { try output.write(contentsOf: bytes) }
            try output.synchronize()
        } catch let error as RestorationError {
            throw error
        } catch {
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw StorageFault(cause: isFull ? .diskFull : .cannotOpen, path: other.url.path)
        }
    }

    /// Waits until the names in the file's folder are on the disk.
    func syncFolder() throws(StorageFault) {
        let folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw StorageFault(cause: .failed, path: url.path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw StorageFault(cause: .failed, path: url.path) }
    }
}

/// The owner of a file that root created.
enum FileOwner {
    /// Gives a file that root created to the owner of its folder, so that the service can use it. It does nothing for other
    /// users.
    static func matchFolder(of url: URL) {
        var status = stat()
        guard geteuid() == 0, stat(url.deletingLastPathComponent().path, &status) == 0, status.st_uid != 0 else {
            return
        }
        _ = chown(url.path, status.st_uid, status.st_gid)
    }
}

/// The lock on a ledger's path. Processes that have the file open share it. A process that replaces the file has it
/// exclusively.
///
/// SQLite's own locks are on the file itself, and do not cover another file that takes its name.
final class LedgerLock: Sendable {
    enum Mode {
        case shared
        case exclusive
    }

    private let descriptor: Int32

    /// Takes the lock without waiting for it.
    ///
    /// - Throws: `StorageFault` of the cause `busy` if another process holds the lock.
    init(_ ledger: URL, _ mode: Mode) throws(StorageFault) {
        let file = ledger.deletingPathExtension().appendingPathExtension("lock")
        // Read-only mode, so that a process can take an existing lock on a read-only disk.
        let opened = open(file.path, O_CREAT | O_RDONLY | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw StorageFault(cause: .cannotOpen, path: ledger.path) }
        FileOwner.matchFolder(of: file)
        while flock(opened, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            let reason = errno
            if reason == EINTR { continue }
            close(opened)
            throw StorageFault(cause: reason == EWOULDBLOCK ? .busy : .cannotOpen, path: ledger.path)
        }
        descriptor = opened
    }

    deinit {
        // Closing alone may not release the lock, because a child process that is being started has a copy of the descriptor.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

extension DatabaseQueue {
    /// Moves the write-ahead log into the database and closes it, so that it is one complete file.
    ///
    /// - Throws: `DatabaseError` if another connection is open, for example one of another program.
    func closeAsOneFile() throws {
        try writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try close()
    }
}

extension DatabaseError {
    /// True if the file is damaged, or no database.
    var isOfDamage: Bool { [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(resultCode) }
}
