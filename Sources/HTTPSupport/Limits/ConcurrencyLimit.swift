import NIOCore
import Synchronization

/// A limit on the work of one kind under way. Callers without a place wait for one in their order.
package final class ConcurrencyLimit: Sendable {
    private struct Places {
        var free: Int
        var waiting = CircularBuffer<CheckedContinuation<Void, any Error>>()
    }

    private let places: Mutex<Places>
    private let maximumWaiting: Int

    /// - Parameters:
    ///   - maximum: The work under way at once.
    ///   - maximumWaiting: The callers that wait at once; the next is turned away.
    package init(_ maximum: Int, maximumWaiting: Int) {
        places = Mutex(Places(free: maximum))
        self.maximumWaiting = maximumWaiting
    }

    /// Does work as soon as there is a place.
    ///
    /// - Throws: `Problem`, `tooBusy`, when too many callers wait.
    package func run<Value>(_ work: () async throws -> Value) async throws -> Value {
        try await takePlace()
        defer { leavePlace() }
        return try await work()
    }

    private func takePlace() async throws {
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

    /// Hands the place to the caller that has waited longest.
    private func leavePlace() {
        let next = places.withLock { places in
            let next = places.waiting.popFirst()
            if next == nil { places.free += 1 }
            return next
        }
        next?.resume()
    }
}

extension Problem {
    package static let tooBusy = Problem(
        status: .serviceUnavailable, code: "tooBusy",
        detail: "As many requests of this kind as can be are being answered: try again in a moment.",
        couldSucceedLater: true, retryAfter: 1)
}
