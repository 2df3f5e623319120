import Foundation
import HTTPTypes
import Logging
import Proofs
import Synchronization

/// The free space that is reserved for purchases, notifications of the App Store and back ends.
///
/// Anybody can sign up or state attributes. Such writes end before the disk is full, so that paid ones still succeed.
package final class StorageReserve: Sendable {
    private let bytes: Int64
    private let freeBytes: @Sendable () -> Int64?
    private let clock: any WallClock
    private let logger: Logger
    /// The time of the last question to the file system.
    private let askedAt = Mutex<Timestamp?>(nil)
    private let wasReached = Atomic(false)

    /// - Parameters:
    ///   - bytes: The size of the reserve.
    ///   - size: The size of the file system in bytes; nil if it is unknown. The reserve is an eighth of it at most, because a
    ///     small file system would otherwise be almost full when it is empty.
    ///   - freeBytes: Returns the free bytes of the file system; nil if they are unknown.
    package init(
        bytes: Int64,
        ofFileSystem size: Int64? = nil,
        clock: any WallClock,
        logger: Logger,
        freeBytes: @escaping @Sendable () -> Int64?
    ) {
        self.bytes = min(bytes, (size ?? .max) / 8)
        self.clock = clock
        self.logger = logger
        self.freeBytes = freeBytes
    }

    /// The bytes of a file system that an unprivileged process may still write; nil if they are unknown.
    package static func freeBytes(at folder: URL) -> Int64? {
        bytes(at: folder) { UInt64($0.f_bavail) }
    }

    /// The size of a file system in bytes; nil if it is unknown.
    package static func size(at folder: URL) -> Int64? {
        bytes(at: folder) { UInt64($0.f_blocks) }
    }

    private static func bytes(at folder: URL, _ blocks: (statvfs) -> UInt64) -> Int64? {
        var system = statvfs()
        guard statvfs(folder.path, &system) == 0 else { return nil }
        let (bytes, isHuge) = blocks(system).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        return isHuge ? .max : Int64(clamping: bytes)
    }

    /// True if only the reserve is left. The file system is asked at most once a second.
    package var isReached: Bool {
        // A disk that hangs blocks one thread, not all.
        askedAt.withLockIfAvailable { askedAt in
            let now = clock.now()
            if let askedAt, now >= askedAt, now.millisecondsSince1970 - askedAt.millisecondsSince1970 < 1000 { return }
            askedAt = now
            if let free = freeBytes() { record(free) }
        }
        return wasReached.load(ordering: .relaxed)
    }

    private func record(_ free: Int64) {
        let wasReached = wasReached.load(ordering: .relaxed)
        // The distance of both bounds exceeds what the ledger's write-ahead log usually takes and returns.
        let isReached = free < (wasReached ? bytes + bytes / 4 : bytes)
        guard isReached != wasReached else { return }
        self.wasReached.store(isReached, ordering: .relaxed)
        logger.log(
            level: isReached ? .warning : .notice,
            isReached
                ? "the disk is almost full: only purchases, notifications and back ends write"
                : "the disk has free space again: all callers write",
            metadata: ["freeMegabytes": "\(free >> 20)"])
    }
}

extension ServiceContext {
    /// True if only purchases, notifications and back ends may write.
    package var isStorageAlmostFull: Bool { sharedLimits?.reserve?.isReached ?? false }

    /// Refuses a write without a proof if only the reserve of free space is left.
    ///
    /// - Throws: `Problem` with the code `storageAlmostFull`.
    func checkReserve() throws(Problem) {
        guard isStorageAlmostFull else { return }
        throw Problem(
            status: .serviceUnavailable, code: "storageAlmostFull",
            detail: "The service is short of disk space and accepts only purchases now. Try again later.",
            couldSucceedLater: true, retryAfter: 60)
    }
}
