/// What shall go wrong with the next notification that comes about, so that a server can be tested against it.
public enum NotificationFault: Hashable, Sendable, Codable {
    /// It is sent once more after it was delivered.
    case duplicate
    /// It is sent after the one that follows it.
    case reorder
    /// It is sent so many seconds late.
    case delay(seconds: Int64)
    /// It is never sent; the history has it.
    case drop

    public var name: String {
        switch self {
        case .duplicate: "duplicate"
        case .reorder: "reorder"
        case .drop: "drop"
        case .delay(let seconds): "delay:\(seconds)"
        }
    }

    /// - Parameter name: `duplicate`, `reorder`, `drop`, or `delay:SECONDS`.
    /// - Returns: nil for any other name.
    public init?(name: String) {
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
