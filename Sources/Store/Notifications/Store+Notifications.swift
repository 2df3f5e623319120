import Commerce
import Foundation

extension Store {
    /// The notifications that came about from one moment until before another, the oldest first; all of them unless told
    /// otherwise.
    public func notifications(
        from start: Timestamp = Timestamp(millisecondsSince1970: 0),
        until end: Timestamp = Timestamp(millisecondsSince1970: .max)
    ) throws(StoreError) -> [StoreNotification] {
        try read { try $0.notifications.notifications(from: start, until: end) }
    }
}
