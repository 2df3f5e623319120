import Commerce
import Synchronization

/// A clock that stands still until a test moves it.
public final class ManualClock: WallClock {
    private let moment: Mutex<Timestamp>

    /// - Parameter moment: Noon of a day in 2026, unless told otherwise.
    public init(_ moment: Timestamp = Timestamp(secondsSince1970: 1_790_000_000)) {
        self.moment = Mutex(moment)
    }

    public func now() -> Timestamp { moment.withLock { $0 } }

    public func advance(milliseconds: Int64) {
        moment.withLock { $0 = Timestamp(millisecondsSince1970: $0.millisecondsSince1970 + milliseconds) }
    }
}
