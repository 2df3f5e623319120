import Foundation
import NIOPosix
import Synchronization

/// The threads that reads run on.
///
/// A hop to another thread and back costs more than a read from a ledger in a file: these reads run inline. Together, all
/// ledgers of the process leave one thread free of inline reads, since a disk that hangs would block them all.
final class ReadThreads: Sendable {
    private static let maximumInlineReads = ProcessInfo.processInfo.activeProcessorCount - 1

    /// The reads that run inline in this process.
    private static let inlineReads = Atomic(0)

    private let runsInline: Bool
    private let waiting = Atomic(0)

    init(runsInline: Bool) {
        self.runsInline = runsInline
    }

    /// The number of reads that wait for a thread.
    var waitingCount: Int { waiting.load(ordering: .relaxed) }

    @inline(never)  // The optimizer of Swift 6.3 fails where it takes this into its caller.
    func run<Value: Sendable>(
        isLong: Bool = false,
        _ read: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard runsInline, !isLong, Self.takePlace() else {
            waiting.add(1, ordering: .relaxed)
            return try await NIOThreadPool.singleton.runIfActive { [self] in
                waiting.subtract(1, ordering: .relaxed)
                return try read()
            }
        }
        defer { Self.inlineReads.subtract(1, ordering: .relaxed) }
        return try read()
    }

    private static func takePlace() -> Bool {
        guard inlineReads.add(1, ordering: .relaxed).oldValue >= maximumInlineReads else { return true }
        inlineReads.subtract(1, ordering: .relaxed)
        return false
    }
}
