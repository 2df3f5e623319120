import HTTPSupport
import Synchronization

/// The state of each receiver: busy, or failing. A failing receiver is retried with growing pauses, up to a minute, however
/// many messages wait for it.
final class WebhookLanes: Sendable {
    private static let longestPause = 60

    private struct Lane {
        var isBusy = false
        /// The number of failures in a row.
        var failures = 0
        var notBefore = ContinuousClock.now
    }

    /// The lanes by the endpoint's identifier. There are only a few endpoints.
    private let lanes = Mutex<[String: Lane]>([:])

    /// - Returns: False if an attempt is under way, or the pause has not passed.
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
