import Proofs

/// The position from which an export continues: the last user, and the moment after which records are left out.
package struct ExportPosition: Hashable, Sendable, CustomStringConvertible {
    let until: Timestamp
    let user: Int64

    package var description: String { "\(until.millisecondsSince1970) \(user)" }
}

extension ExportPosition {
    /// - Returns: Nil for a malformed text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let until = Int64(parts[0]), let user = Int64(parts[1]) else { return nil }
        self.init(until: Timestamp(millisecondsSince1970: until), user: user)
    }
}
