import NIOCore
import Proofs
import Synchronization

/// A limit on the concurrent work of one kind. Callers without a place wait in order.
package final class ConcurrencyLimit: Sendable {
    private struct Places {
        var free: Int
        var waiting = CircularBuffer<CheckedContinuation<Void, any Error>>()
    }

    private let places: Mutex<Places>
    private let maximumWaiting: Int

    /// - Parameters:
    ///   - maximum: The maximum number of concurrent jobs.
    ///   - maximumWaiting: The maximum number of waiting callers. Further callers are refused.
    package init(_ maximum: Int, maximumWaiting: Int) {
        places = Mutex(Places(free: maximum))
        self.maximumWaiting = maximumWaiting
    }

    /// Performs the work as soon as a place is free.
    ///
    /// - Throws: `Problem` with the code `tooBusy` if too many callers wait.
    package func run<Value>(_ work: () async throws -> Value) async throws -> Value {
        try await acquirePermit()
        defer { releasePermit() }
        return try await work()
    }

    private func acquirePermit() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let answer: Result<Void, any Error>? = places.withLock { places in
                if places.free > 0 {
                    places.free -= 1
                    return .success(())
                }
                guard places.waiting.count < maximumWaiting else { return .failure(Problem.tooBusy) }
                places.waiting.append(continuation)
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }

    /// Gives the place to the caller that has waited longest.
    private func releasePermit() {
        let next = places.withLock { places in
            let next = places.waiting.popFirst()
            if next == nil { places.free += 1 }
            return next
        }
        next?.resume()
    }
}

extension Problem {
    package static let tooBusy = Problem(ErrorRule.tooBusy)
}
