import Foundation
import NIOPosix
import Synchronization

/// The threads that run reads.
///
/// A hop to another thread and back costs more than a read from a ledger in a file, so these reads run inline. All ledgers of
/// the process together leave one thread free of inline reads, because a disk that hangs would block all threads.
final class ReadThreads: Sendable {
    private static let maximumInlineReads = ProcessInfo.processInfo.activeProcessorCount - 1

    /// The reads that run inline in this process.
    private static let inlineReads = Atomic(0)

    private let runsInline: Bool
    /// The reads that wait for a thread or have one.
    private let submitted = Atomic(0)
    private let running = Atomic(0)

    init(runsInline: Bool) {
        self.runsInline = runsInline
    }

    /// The number of reads that wait for a thread.
    var waitingCount: Int { max(0, submitted.load(ordering: .relaxed) - running.load(ordering: .relaxed)) }

    @inline(never)  // The optimizer of Swift 6.3 crashes if it inlines this.
    func run<Value: Sendable>(
        isLong: Bool = false,
        _ read: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard runsInline, !isLong, Self.reserveInlineRead() else {
            submitted.add(1, ordering: .relaxed)
            // A cancelled read never gets a thread.
            defer { submitted.subtract(1, ordering: .relaxed) }
            return try await NIOThreadPool.singleton.runIfActive { [self] in
                running.add(1, ordering: .relaxed)
                defer { running.subtract(1, ordering: .relaxed) }
                return try read()
            }
        }
        defer { Self.inlineReads.subtract(1, ordering: .relaxed) }
        return try read()
    }

    private static func reserveInlineRead() -> Bool {
        guard inlineReads.add(1, ordering: .relaxed).oldValue >= maximumInlineReads else { return true }
        inlineReads.subtract(1, ordering: .relaxed)
        return false
    }
}
