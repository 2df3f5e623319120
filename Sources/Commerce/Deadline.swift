/// A time by which something has to be done.
package enum Deadline {
    package struct Passed: Error {}

    /// Does something, or gives it up after a while: what only ends when it is cancelled is cancelled then.
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
