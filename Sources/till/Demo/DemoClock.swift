import Proofs
import Synchronization

/// A clock that stands still until it is set.
final class DemoClock: WallClock {
    private let moment: Mutex<Timestamp>

    init(_ moment: Timestamp) {
        self.moment = Mutex(moment)
    }

    func now() -> Timestamp { moment.withLock { $0 } }

    func set(_ moment: Timestamp) {
        self.moment.withLock { $0 = moment }
    }
}
