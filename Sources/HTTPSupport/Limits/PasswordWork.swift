import Dispatch
import Foundation
import Proofs
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

/// The rate limits on guesses of passwords and codes: one for each name and one for each client address.
package struct PasswordLimits: Sendable {
    package static let perName = TokenBuckets.Rate(atOnce: 10, perMinute: 1)

    private let ofName: TokenBuckets
    package let fromAddress: TokenBuckets

    package init(clock: any WallClock) {
        ofName = TokenBuckets(Self.perName, clock: clock)
        fromAddress = TokenBuckets(.init(atOnce: 30, perMinute: 6), clock: clock)
    }

    /// Runs an attempt. A guess uses up one attempt of the name and of the address.
    ///
    /// - Parameter isGuess: Returns true for the error of a guess.
    /// - Throws: `Problem`, `tooManyAttempts`; the errors of the attempt.
    package func attempt<Value>(
        _ name: String,
        from address: String,
        _ isGuess: (any Error) -> Bool = { _ in true },
        _ attempt: () async throws -> Value
    ) async throws -> Value {
        try await TokenBuckets.attempt([(fromAddress, address), (ofName, name)], isGuess, attempt)
    }
}

extension TokenBuckets {
    /// Takes a token.
    ///
    /// - Throws: `Problem`, `tooManyAttempts`.
    package func require(_ subject: String) throws(Problem) {
        if let seconds = take(subject) { throw .tooManyAttempts(secondsToWait: seconds) }
    }

    /// Runs an attempt with a token of each bucket, and puts them back unless it was a guess.
    package static func attempt<Value>(
        _ limits: [(buckets: TokenBuckets, subject: String)],
        _ isGuess: (any Error) -> Bool,
        _ attempt: () async throws -> Value
    ) async throws -> Value {
        var taken: [(buckets: TokenBuckets, subject: String)] = []
        func putBack() { for limit in taken { limit.buckets.returnToken(limit.subject) } }
        for limit in limits {
            do { try limit.buckets.require(limit.subject) } catch {
                // The attempt was not made.
                putBack()
                throw error
            }
            taken.append(limit)
        }
        do {
            let value = try await attempt()
            putBack()
            return value
        } catch {
            if !isGuess(error) { putBack() }
            throw error
        }
    }
}
