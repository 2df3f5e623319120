import Proofs
import Synchronization

/// A clock that only moves when a test advances it.
package final class ManualClock: WallClock {
    private let moment: Mutex<Timestamp>

    /// - Parameter moment: The start, by default noon of a day in 2026.
    package init(_ moment: Timestamp = Timestamp(secondsSince1970: 1_790_000_000)) {
        self.moment = Mutex(moment)
    }

    package func now() -> Timestamp { moment.withLock { $0 } }

    package func advance(milliseconds: Int64) {
        moment.withLock { $0 = Timestamp(millisecondsSince1970: $0.millisecondsSince1970 + milliseconds) }
    }
}
