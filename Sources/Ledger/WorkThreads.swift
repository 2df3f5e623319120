import NIOPosix
import Synchronization

/// Threads for blocking or long work. The threads that serve connections never block.
package enum WorkThreads {
    /// The maximum size of an input that is processed inline, in bytes. A signed transaction is smaller. Its
    /// verification costs less than a switch to another thread and back.
    private static let maximumInlineSize = 16 * 1024

    /// The jobs that wait for a thread or have one.
    private static let submitted = Atomic(0)
    private static let running = Atomic(0)

    /// The number of jobs that wait for a thread.
    package static var waitingCount: Int {
        max(0, submitted.load(ordering: .relaxed) - running.load(ordering: .relaxed))
    }

    /// Processes an input of `size` bytes, on another thread if it is large.
    package static func process<Value: Sendable>(
        _ size: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        size <= maximumInlineSize ? try work() : try await run(work)
    }

    package static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        submitted.add(1, ordering: .relaxed)
        // A cancelled job never gets a thread.
        defer { submitted.subtract(1, ordering: .relaxed) }
        // If the threads have stopped, the process is ending and nothing awaits the work.
        return try await NIOThreadPool.singleton.runIfActive {
            running.add(1, ordering: .relaxed)
            defer { running.subtract(1, ordering: .relaxed) }
            return try work()
        }
    }

    /// Runs work that goes on if it takes longer than a request may wait.
    ///
    /// - Returns: Nil if the work goes on. Its result is then lost.
    package static func run<Value: Sendable>(
        waitingUpTo longest: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let (results, end) = AsyncStream<Result<Value, any Error>>.makeStream()
        Task {
            do { end.yield(.success(try await work())) } catch { end.yield(.failure(error)) }
            end.finish()
        }
        let result = await withTaskGroup(of: Result<Value, any Error>?.self) { group in
            group.addTask { await results.first { _ in true } }
            group.addTask {
                try? await Task.sleep(for: longest)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        return try result?.get()
    }
}
