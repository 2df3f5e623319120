import Commerce
import HTTPSupport
import Synchronization

/// Counts requests in the minute that began with the first of them.
final class RequestCounter: Sendable {
    /// When the minute ends, and how many requests it had.
    private let minute = Mutex<(end: Timestamp, count: Int)>((Timestamp(millisecondsSince1970: 0), 0))

    /// - Returns: When the minute ends, for a request beyond the limit; else nil.
    func count(at now: Timestamp, limit: Int) -> Timestamp? {
        minute.withLock { minute in
            if now >= minute.end { minute = (now.adding(seconds: 60), 0) }
            minute.count += 1
            return minute.count > limit ? minute.end : nil
        }
    }
}
