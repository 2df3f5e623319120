import Foundation
import Synchronization

extension Process {
    /// The lock of process launches.
    private static let launching = Mutex(())

    /// Launches the process. Launches are serialized.
    ///
    /// Foundation's `run` (swift-corelibs-foundation, Swift 6.3) lists the open files and copies 256 bytes for each name,
    /// however short. With about 1,350 open files it reads past the C library's buffer of 32 KiB, and crashes if the buffer is
    /// at the end of a heap. Heaps of single threads may end at any page. `make test` uses one heap for all threads, with room
    /// at its end (`MALLOC_ARENA_MAX`, `MALLOC_TOP_PAD_`).
    package func launchAlone() throws {
        try Self.launching.withLock { _ in try run() }
    }
}
