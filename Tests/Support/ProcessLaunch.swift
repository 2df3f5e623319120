import Foundation
import Synchronization

extension Process {
    /// Held while a process is launched.
    private static let launching = Mutex(())

    /// Launches the process, one at a time.
    ///
    /// Foundation's `run` (swift-corelibs-foundation, Swift 6.3) lists the open files and copies 256 bytes for each name, however
    /// short it is: with some 1,350 files open it reads past the C library's buffer of 32 KiB, and crashes where that lies at
    /// the end of a heap. Heaps of single threads end at any page; `make test` has one heap for all, with room at its end
    /// (`MALLOC_ARENA_MAX`, `MALLOC_TOP_PAD_`).
    public func launchAlone() throws {
        try Self.launching.withLock { _ in try run() }
    }
}
