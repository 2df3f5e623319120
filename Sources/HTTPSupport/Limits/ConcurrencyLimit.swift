import Ledger
import Synchronization
import Vocabulary

/// A limit on the concurrent work of one kind. Callers without a place wait, and their networks take turns (`FairQueue`).
package final class ConcurrencyLimit: Sendable {
    private struct Places {
        var free: Int
        var waiting: FairQueue<Waiter>
    }

    /// A caller who waits. One that is cancelled ends at once, and keeps its place until its turn.
    private final class Waiter: Sendable {
        private enum State {
            case new
            case waiting(CheckedContinuation<Void, any Error>)
            case ended
        }

        private let state = Mutex(State.new)

        func wait(_ continuation: CheckedContinuation<Void, any Error>) {
            let isEnded = state.withLock { state in
                if case .ended = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isEnded { continuation.resume(throwing: Problem.tooBusy) }
        }

        /// - Returns: False if the caller has ended before.
        @discardableResult
        func end(_ result: Result<Void, any Error>) -> Bool {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                defer { state = .ended }
                return if case .waiting(let continuation) = state { continuation } else { nil }
            }
            continuation?.resume(with: result)
            return continuation != nil
        }
    }

    private let places: Mutex<Places>

    /// - Parameters:
    ///   - maximum: The maximum number of concurrent jobs.
    ///   - maximumWaiting: The maximum number of waiting callers. Further callers are refused.
    package init(_ maximum: Int, maximumWaiting: Int) {
        places = Mutex(Places(free: maximum, waiting: FairQueue(maximum: maximumWaiting)))
    }

    package var waitingCount: Int { places.withLock { $0.waiting.count } }

    /// Performs the work as soon as a place is free.
    ///
    /// - Parameter isPreferred: True if the caller goes before callers of other networks.
    /// - Throws: `Problem` with the code `tooBusy` if too many callers wait, or for a caller who is cancelled.
    package func run<Value>(
        for network: ClientNetwork, isPreferred: Bool = false, _ work: () async throws -> Value
    ) async throws -> Value {
        try await acquirePermit(network, isPreferred)
        defer { releasePermit() }
        return try await work()
    }

    private func acquirePermit(_ network: ClientNetwork, _ isPreferred: Bool) async throws {
        let waiter = Waiter()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                waiter.wait(continuation)
                add(waiter, network, isPreferred)
            }
        } onCancel: {
            waiter.end(.failure(Problem.tooBusy))
        }
    }

    private func add(_ waiter: Waiter, _ network: ClientNetwork, _ isPreferred: Bool) {
        let (isAdmitted, refused) = places.withLock { places -> (Bool, Waiter?) in
            if places.free > 0 {
                places.free -= 1
                return (true, nil)
            }
            return switch places.waiting.add(waiter, from: network, isPreferred: isPreferred) {
            case .admitted: (false, nil)
            case .replacing(let other): (false, other)
            case .refused: (false, waiter)
            }
        }
        refused?.end(.failure(Problem.tooBusy))
        if isAdmitted, !waiter.end(.success(())) { releasePermit() }
    }

    /// Gives the place to the caller whose turn it is.
    private func releasePermit() {
        var isGiven = false
        while !isGiven {
            let next = places.withLock { places in
                let next = places.waiting.next()
                if next == nil { places.free += 1 }
                return next
            }
            guard let next else { return }
            isGiven = next.end(.success(()))
        }
    }
}

extension Problem {
    package static let tooBusy = Problem(ErrorRule.tooBusy)
}
