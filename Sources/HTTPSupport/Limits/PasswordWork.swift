import Dispatch
import Foundation
import Ledger
import Proofs

/// The threads that hash passwords: half of the processor's cores, so that log-ins never block purchases. Their number also
/// bounds the memory of the hashes. Others wait in turns by network.
package final class PasswordWork: Sendable {
    /// With 0.3 seconds for each, the last of them waits for less than the time limit of a request.
    private static let waitingPerThread = 96

    private let threads = DispatchQueue(label: "till.passwords", attributes: .concurrent)
    private let places: ConcurrencyLimit

    package init() {
        let count = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        places = ConcurrencyLimit(count, maximumWaiting: Self.waitingPerThread * count)
    }

    /// - Parameter isKnown: True for a user who is logged in, and for an account that exists and that nobody attacks. It goes before
    ///   invented ones.
    /// - Throws: The error of the work; `Problem`, `tooBusy`, if too many calls wait.
    package func run<Value: Sendable>(
        for network: ClientNetwork, isKnown: Bool = false, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await places.run(for: network, isPreferred: isKnown) {
            try await withCheckedThrowingContinuation { continuation in
                threads.async { continuation.resume(with: Result { try work() }) }
            }
        }
    }
}

/// The rate limits on guesses of passwords and codes: one for each name and one for each client network.
package struct PasswordLimits: Sendable {
    /// The rate of one user who is logged in, and of one network for one name.
    package static let perName = TokenBuckets.Rate(atOnce: 10, perMinute: 1)
    /// The first guesses of a site for a name in a day, which nobody else can use up.
    private static let firstGuesses = 3

    private let ofName: SharedBudget
    package let ofNetwork: NetworkBuckets

    package init(clock: any WallClock) {
        ofName = SharedBudget(
            Self.perName * 2, host: Self.perName, .init(first: Self.firstGuesses, site: (1, 2)), clock: clock)
        ofNetwork = NetworkBuckets(.init(atOnce: 30, perMinute: 6), clock: clock)
    }

    /// True if nobody has guessed at a name lately.
    package func isQuiet(_ name: String) -> Bool { ofName.isUntouched(name) }

    /// Runs an attempt. A guess uses up one attempt of the name and of the network, and a full queue one of the network.
    ///
    /// - Parameter isGuess: Returns true for the error of a guess.
    /// - Throws: `Problem`, `tooManyAttempts`; the errors of the attempt.
    package func attempt<Value>(
        _ name: String,
        from network: ClientNetwork,
        _ isGuess: (any Error) -> Bool = { _ in true },
        _ attempt: () async throws -> Value
    ) async throws -> Value {
        try ofNetwork.require(network)
        let taken: SharedBudget.Taken
        switch ofName.take(from: network, for: name) {
        case .granted(let tokens): taken = tokens
        case .refused(let seconds):
            // The attempt was not made.
            ofNetwork.returnToken(from: network)
            throw Problem.tooManyAttempts(secondsToWait: seconds)
        }
        do {
            let value = try await attempt()
            ofNetwork.returnToken(from: network)
            ofName.giveBack(taken, from: network, for: name)
            return value
        } catch {
            let isRefused = Problem.isTooBusy(error)
            if isRefused || !isGuess(error) { ofName.giveBack(taken, from: network, for: name) }
            if !isRefused, !isGuess(error) { ofNetwork.returnToken(from: network) }
            throw error
        }
    }
}

extension Problem {
    /// True for the refusal by a full queue. It costs its caller as much as an attempt, so that nobody fills the queue for nothing.
    fileprivate static func isTooBusy(_ error: any Error) -> Bool { (error as? Problem)?.code == Problem.tooBusy.code }
}

extension NetworkBuckets {
    /// Takes a token.
    ///
    /// - Throws: `Problem`, `tooManyAttempts`.
    package func require(_ network: ClientNetwork) throws(Problem) {
        if let seconds = take(from: network) { throw .tooManyAttempts(secondsToWait: seconds) }
    }
}

extension TokenBuckets {
    /// Runs an attempt with a token, and puts it back unless it was a guess, or a full queue refused it.
    package func attempt<Value>(
        _ name: String, _ isGuess: (any Error) -> Bool, _ attempt: () async throws -> Value
    ) async throws -> Value {
        if let seconds = take(name) { throw Problem.tooManyAttempts(secondsToWait: seconds) }
        do {
            let value = try await attempt()
            returnToken(name)
            return value
        } catch {
            if !Problem.isTooBusy(error), !isGuess(error) { returnToken(name) }
            throw error
        }
    }
}
