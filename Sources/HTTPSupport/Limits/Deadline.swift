/// A timeout for asynchronous work.
package enum Deadline {
    package struct Passed: Error {}

    /// Runs the body. If the limit passes first, it cancels the body and throws `Passed`.
    package static func run<Value: Sendable>(
        within limit: Duration,
        _ body: @Sendable @escaping () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw Passed()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw Passed() }
            return value
        }
    }
}
