/// A fault of the next notification of a local store. It tests the server that receives the notification.
package enum NotificationFault: Hashable, Sendable, Codable {
    /// The store sends the notification once more after its delivery.
    case duplicate
    /// The store sends the notification after the one that follows it.
    case reorder
    /// The store sends the notification late by this number of seconds.
    case delay(seconds: Int64)
    /// The store never sends the notification, but the history has it.
    case drop

    package var name: String {
        switch self {
        case .duplicate: "duplicate"
        case .reorder: "reorder"
        case .drop: "drop"
        case .delay(let seconds): "delay:\(seconds)"
        }
    }

    /// - Parameter name: `duplicate`, `reorder`, `drop`, or `delay:SECONDS`.
    /// - Returns: Nil for any other name.
    package init?(name: String) {
        switch name {
        case "duplicate": self = .duplicate
        case "reorder": self = .reorder
        case "drop": self = .drop
        default:
            guard name.hasPrefix("delay:"), let seconds = Int64(name.dropFirst(6)), (0...31_536_000).contains(seconds)
            else { return nil }
            self = .delay(seconds: seconds)
        }
    }
}
