import NIOPosix
import Synchronization

/// Threads for work that waits for the disk or takes long, so that those that serve connections never do.
final class BlockingWork: Sendable {
    /// How much waits for a thread.
    private let waiting = Atomic(0)

    var queueDepth: Int { waiting.load(ordering: .relaxed) }

    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        waiting.add(1, ordering: .relaxed)
        // Work that is never begun (the threads are gone) is not waited for either: the process ends.
        return try await NIOThreadPool.singleton.runIfActive { [self] in
            waiting.subtract(1, ordering: .relaxed)
            return try work()
        }
    }
}
