import Foundation
import Proofs

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
