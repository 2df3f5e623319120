import HTTPSupport
import Synchronization

/// Which receivers are being sent to, and which were gone when they were last: these are tried less and less often, however much
/// waits for them, a minute apart at last.
final class WebhookLanes: Sendable {
    private static let longestPause = 60

    private struct Lane {
        var isBusy = false
        /// Times in a row.
        var failures = 0
        var notBefore = ContinuousClock.now
    }

    /// By the endpoint's identifier; of the few there are.
    private let lanes = Mutex<[String: Lane]>([:])

    /// - Returns: false where somebody sends to it already, or it is too early.
    func begin(_ endpoint: String) -> Bool {
        lanes.withLock { lanes in
            var lane = lanes[endpoint] ?? Lane()
            guard !lane.isBusy, ContinuousClock.now >= lane.notBefore else { return false }
            lane.isBusy = true
            lanes[endpoint] = lane
            return true
        }
    }

    func isFailing(_ endpoint: String) -> Bool {
        lanes.withLock { $0[endpoint].map { $0.failures > 0 } ?? false }
    }

    func end(_ endpoint: String, isWell: Bool) {
        lanes.withLock { lanes in
            guard !isWell else {
                lanes[endpoint] = nil
                return
            }
            let failures = (lanes[endpoint]?.failures ?? 0) + 1
            let pause = failures > 6 ? Self.longestPause : 1 << (failures - 1)
            lanes[endpoint] = Lane(
                isBusy: false, failures: failures, notBefore: .now + .seconds(min(pause, Self.longestPause)))
        }
    }
}
