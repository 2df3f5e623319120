import Proofs

extension Ledger {
    /// The pause before a refused use case is tried again.
    private static let backgroundRetryDelay = Duration.milliseconds(100)

    /// Runs a use case as `write` does, and waits while too many use cases wait for a commit: purchases come first.
    ///
    /// - Throws: The errors of `useCase`; `StorageFault`; `CancellationError`.
    package func writeInBackground<Value: Sendable>(
        _ useCase: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async throws -> Value {
        try await Self.retryingWhileOverloaded { try await write(useCase) }
    }

    /// Retries a use case while too many others wait for a commit.
    ///
    /// - Throws: The errors of `useCase`; `CancellationError`.
    package static func retryingWhileOverloaded<Value>(_ useCase: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await useCase() } catch let fault as StorageFault where fault.cause == .overloaded {
                try await Task.sleep(for: backgroundRetryDelay)
            }
        }
    }
}
