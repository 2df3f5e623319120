import Proofs

/// The position from which an export continues: the last user, and the moment after which records are left out.
public struct ExportPosition: Hashable, Sendable, CustomStringConvertible {
    let until: Timestamp
    let user: Int64

    init(until: Timestamp, user: Int64) {
        self.until = until
        self.user = user
    }

    /// - Returns: Nil for a malformed text.
    public init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let until = Int64(parts[0]), let user = Int64(parts[1]) else { return nil }
        self.init(until: Timestamp(millisecondsSince1970: until), user: user)
    }

    public var description: String { "\(until.millisecondsSince1970) \(user)" }
}
