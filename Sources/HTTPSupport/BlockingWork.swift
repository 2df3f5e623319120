import NIOPosix
import Synchronization

/// Threads for work that waits or takes long, so that the threads that serve connections never block.
package enum BlockingWork {
    /// The largest input that is processed inline, in bytes. A hop to another thread and back costs more than to verify a signed
    /// transaction with its certificates, which is smaller.
    private static let maximumInlineSize = 16 * 1024

    private static let waiting = Atomic(0)

    /// The amount of work that waits for a thread.
    package static var waitingCount: Int { waiting.load(ordering: .relaxed) }

    /// Processes so many bytes.
    package static func process<Value: Sendable>(
        _ size: Int,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        size <= maximumInlineSize ? try work() : try await run(work)
    }

    package static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        waiting.add(1, ordering: .relaxed)
        // Nobody waits for work that never begins because the threads are gone: the process ends.
        return try await NIOThreadPool.singleton.runIfActive {
            waiting.subtract(1, ordering: .relaxed)
            return try work()
        }
    }
}
