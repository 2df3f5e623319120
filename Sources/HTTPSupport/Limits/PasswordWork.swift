import Dispatch
import Foundation
import Synchronization

/// The threads that hash passwords: half of the processor's cores, so that log-ins never block purchases. Their number also
/// bounds the memory of the hashes.
package final class PasswordWork: Sendable {
    private static let maximumWaiting = 64

    private let queues = (0..<max(1, ProcessInfo.processInfo.activeProcessorCount / 2)).map {
        DispatchQueue(label: "till.passwords.\($0)")
    }
    private let nextQueue = Atomic(0)
    private let waiting = Atomic(0)

    package init() {}

    /// - Throws: The error of the work; `Problem`, `tooBusy`, if too many calls wait.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.maximumWaiting * queues.count else {
            throw Problem.tooBusy
        }
        let queue = queues[nextQueue.wrappingAdd(1, ordering: .relaxed).newValue & Int.max % queues.count]
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }
}
