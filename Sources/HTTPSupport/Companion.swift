import Logging
import ServiceLifecycle

/// A task beside the routes, which runs until the service stops.
package struct Companion: Service {
    private let task: @Sendable () async throws -> Void

    package init(_ task: @escaping @Sendable () async throws -> Void) {
        self.task = task
    }

    package func run() async throws { try await task() }
}

/// The log of a repeated task. It logs a failure once, until the cause changes or the task succeeds.
package struct FailureLog {
    private var lastCause: String?

    package init() {}

    /// Records an attempt.
    ///
    /// - Parameters:
    ///   - cause: The cause of the failure; nil if the attempt succeeded.
    ///   - key: The metadata key of the cause.
    package mutating func record(
        _ cause: String?, in logger: Logger, _ message: Logger.Message, key: String = "code"
    ) {
        if let cause, cause != lastCause { logger.error(message, metadata: [key: "\(cause)"]) }
        lastCause = cause
    }
}

extension Logger {
    /// Performs a call, and logs the code of its error before it throws it.
    package func logging<Value>(_ message: Logger.Message, _ call: () async throws -> Value) async throws -> Value {
        do { return try await call() } catch {
            self.error(message, metadata: ["code": "\(Problem.code(of: error))"])
            throw error
        }
    }
}
