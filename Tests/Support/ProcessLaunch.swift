import Foundation
import Synchronization

extension Process {
    /// Protects nothing of ours: Foundation's `run` was seen to read outside its memory (in Swift 6.3 on Linux) when many are
    /// launched from several threads at once.
    private static let launching = Mutex(())

    /// Launches the process, one at a time.
    public func launchAlone() throws {
        try Self.launching.withLock { _ in try run() }
    }
}
