import Dispatch
import Foundation
import HTTPSupport
import Synchronization

/// Where passwords are hashed: on half of the processor at most, so that purchases are served however many log in, and on as
/// many threads as there is memory for.
final class PasswordWork: Sendable {
    private static let maximumWaiting = 64

    private let queues = (0..<max(1, ProcessInfo.processInfo.activeProcessorCount / 2)).map {
        DispatchQueue(label: "till.passwords.\($0)")
    }
    private let turn = Atomic(0)
    private let waiting = Atomic(0)

    /// - Throws: What the work throws; `Problem`, `tooBusy`, where too many wait.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.maximumWaiting * queues.count else {
            throw Problem.tooBusy
        }
        let queue = queues[turn.wrappingAdd(1, ordering: .relaxed).newValue & Int.max % queues.count]
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }
}
