import Ledger
import ServiceLifecycle

/// A task beside the routes, which runs until the service stops.
package struct Companion: Service {
    private let task: @Sendable () async throws -> Void

    package init(_ task: @escaping @Sendable () async throws -> Void) {
        self.task = task
    }

    package func run() async throws { try await task() }
}

extension AsyncStream<Void> {
    /// Returns a stream with an element after each pause. It ends when the consumer is cancelled.
    package static func ticks(every pause: Duration) -> AsyncStream<Void> {
        AsyncStream { (try? await Task.sleep(for: pause)).map { _ in } }
    }

    /// Calls a body after each pause, until the service shuts down or the task is cancelled.
    ///
    /// - Parameter beginsAtOnce: True to call it before the first pause, too.
    package static func ticksUntilShutdown(
        every pause: Duration, beginsAtOnce: Bool = false, _ body: () async -> Void
    ) async {
        if beginsAtOnce { await body() }
        for await _ in ticks(every: pause).cancelOnGracefulShutdown() { await body() }
    }
}

/// Threads for blocking or long work, also for modules that do not know the ledger.
package typealias BlockingWork = WorkThreads
