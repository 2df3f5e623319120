import Ledger
import Proofs
import Synchronization

/// A limit on the concurrent work of one kind. Callers without a place wait, and their networks take turns (`FairQueue`).
package final class ConcurrencyLimit: Sendable {
    private struct Places {
        var free: Int
        var waiting: FairQueue<CheckedContinuation<Void, any Error>>
    }

    private let places: Mutex<Places>

    /// - Parameters:
    ///   - maximum: The maximum number of concurrent jobs.
    ///   - maximumWaiting: The maximum number of waiting callers. Further callers are refused.
    package init(_ maximum: Int, maximumWaiting: Int) {
        places = Mutex(Places(free: maximum, waiting: FairQueue(maximum: maximumWaiting)))
    }

    /// The number of waiting callers.
    package var waitingCount: Int { places.withLock { $0.waiting.count } }

    /// Performs the work as soon as a place is free.
    ///
    /// - Parameter isPreferred: True if the caller goes before callers of other networks.
    /// - Throws: `Problem` with the code `tooBusy` if too many callers wait.
    package func run<Value>(
        for network: ClientNetwork, isPreferred: Bool = false, _ work: () async throws -> Value
    ) async throws -> Value {
        try await acquirePermit(network, isPreferred)
        defer { releasePermit() }
        return try await work()
    }

    private func acquirePermit(_ network: ClientNetwork, _ isPreferred: Bool) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let (admitted, refused) = places.withLock { places -> (Bool, CheckedContinuation<Void, any Error>?) in
                if places.free > 0 {
                    places.free -= 1
                    return (true, nil)
                }
                return switch places.waiting.add(continuation, from: network, isPreferred: isPreferred) {
                case .admitted: (false, nil)
                case .replacing(let other): (false, other)
                case .refused: (false, continuation)
                }
            }
            if admitted { continuation.resume() }
            refused?.resume(throwing: Problem.tooBusy)
        }
    }

    /// Gives the place to the caller whose turn it is.
    private func releasePermit() {
        let next = places.withLock { places in
            let next = places.waiting.next()
            if next == nil { places.free += 1 }
            return next
        }
        next?.resume()
    }
}

extension Problem {
    package static let tooBusy = Problem(ErrorRule.tooBusy)
}
