import HTTPSupport
import Proofs
import Synchronization

/// Counts requests in windows of a minute. A window begins with its first request.
final class RequestCounter: Sendable {
    /// The end of the present window, and the number of its requests.
    private let minute = Mutex<(end: Timestamp, count: Int)>((Timestamp(millisecondsSince1970: 0), 0))

    /// - Returns: The end of the window for a request beyond the limit; else nil.
    func count(at now: Timestamp, limit: Int) -> Timestamp? {
        minute.withLock { minute in
            if now >= minute.end { minute = (now.adding(seconds: 60), 0) }
            minute.count += 1
            return minute.count > limit ? minute.end : nil
        }
    }
}
