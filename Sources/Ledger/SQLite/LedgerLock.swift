import Commerce
import Foundation

/// The lock on a ledger's place: shared by the processes that have the file open, exclusive to the one that replaces it.
///
/// SQLite's own locks are on the file itself, and say nothing of another that takes its name.
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
        // For reading, so that an existing lock can be taken on a disk that is read-only.
        let opened = open(file.path, O_CREAT | O_RDONLY | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw StorageFault(cause: .cannotOpen, path: ledger.path) }
        FileOwner.adoptFolder(of: file)
        while flock(opened, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            let reason = errno
            if reason == EINTR { continue }
            close(opened)
            throw StorageFault(cause: reason == EWOULDBLOCK ? .busy : .cannotOpen, path: ledger.path)
        }
        descriptor = opened
    }

    deinit {
        // The end of the process releases the lock, too. Closing alone would not: a child that is being started has a copy.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
