import HTTPSupport
import Synchronization

/// The state of each receiver: busy, or failing. A failing receiver is retried with growing delays, up to a minute, however
/// many messages wait for it.
final class EndpointBackoff: Sendable {
    private static let longestPause = 60

    private struct State {
        var isBusy = false
        /// The number of failures in a row.
        var failures = 0
        var notBefore = ContinuousClock.now
    }

    /// The states by the endpoint's identifier. There are only a few endpoints.
    private let states = Mutex<[String: State]>([:])

    /// - Returns: False if an attempt is under way, or the pause has not passed.
    func begin(_ endpoint: String) -> Bool {
        states.withLock { states in
            var state = states[endpoint] ?? State()
            guard !state.isBusy, ContinuousClock.now >= state.notBefore else { return false }
            state.isBusy = true
            states[endpoint] = state
            return true
        }
    }

    func isFailing(_ endpoint: String) -> Bool {
        states.withLock { $0[endpoint].map { $0.failures > 0 } ?? false }
    }

    func end(_ endpoint: String, succeeded: Bool) {
        states.withLock { states in
            guard !succeeded else {
                states[endpoint] = nil
                return
            }
            let failures = (states[endpoint]?.failures ?? 0) + 1
            let pause = failures > 6 ? Self.longestPause : 1 << (failures - 1)
            states[endpoint] = State(
                isBusy: false, failures: failures, notBefore: .now + .seconds(min(pause, Self.longestPause)))
        }
    }
}
