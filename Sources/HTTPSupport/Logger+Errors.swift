import Logging

extension Logger {
    /// Performs a call, and logs the code of its error before it throws it.
    package func logging<Value>(_ message: Logger.Message, _ call: () async throws -> Value) async throws -> Value {
        do { return try await call() } catch {
            self.error(message, metadata: ["code": "\(Problem.code(of: error))"])
            throw error
        }
    }
}
