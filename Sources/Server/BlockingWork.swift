import Foundation
import NIOPosix
import Synchronization

/// The threads for work that waits or takes long, so that the threads that serve connections never block.
///
/// A hop to another thread and back costs more than a read from a ledger in a file, or than a small proof: these run inline. All
/// instances together leave one thread that serves free of reads, since a disk that hangs would block them all.
package final class BlockingWork: Sendable {
    /// The largest input processed inline, in bytes: a signed transaction is smaller, with its certificates.
    private static let maximumSizeAtOnce = 16 * 1024
    private static let maximumInlineReads = ProcessInfo.processInfo.activeProcessorCount - 1

    /// The reads that run inline in this process.
    private static let inlineReads = Atomic(0)

    private let ledgerAnswersAtOnce: Bool
    /// How much waits for a thread.
    private let waiting = Atomic(0)

    package init(ledgerAnswersAtOnce: Bool = false) {
        self.ledgerAnswersAtOnce = ledgerAnswersAtOnce
    }

    var queueDepth: Int { waiting.load(ordering: .relaxed) }

    /// Asks the ledger for something.
    @inline(never)  // The optimizer of Swift 6.3 fails where it takes this into its caller.
    package func read<Value: Sendable>(_ question: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard ledgerAnswersAtOnce, takePlace() else { return try await run(question) }
        defer { Self.inlineReads.subtract(1, ordering: .relaxed) }
        return try question()
    }

    private func takePlace() -> Bool {
        guard Self.inlineReads.add(1, ordering: .relaxed).oldValue >= Self.maximumInlineReads else { return true }
        Self.inlineReads.subtract(1, ordering: .relaxed)
        return false
    }

    /// Works on so many bytes.
    func process<Value: Sendable>(
        _ size: Int,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        size <= Self.maximumSizeAtOnce ? try work() : try await run(work)
    }

    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        waiting.add(1, ordering: .relaxed)
        // Work that is never begun (the threads are gone) is not waited for either: the process ends.
        return try await NIOThreadPool.singleton.runIfActive { [self] in
            waiting.subtract(1, ordering: .relaxed)
            return try work()
        }
    }
}
