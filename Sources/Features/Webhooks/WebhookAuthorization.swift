/// The value of the header `Authorization` of each message. The team sets it, and its receiver compares it.
///
/// It is a secret, so its description hides it.
package struct WebhookAuthorization: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, in bytes.
    package static let maximumLength = 1024

    package let value: String

    /// - Returns: Nil unless the value is 1 to `maximumLength` printable ASCII characters, with spaces only between others.
    package init?(_ value: String) {
        guard (1...Self.maximumLength).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), value.utf8.first != 0x20, value.utf8.last != 0x20
        else { return nil }
        self.value = value
    }

    package var description: String { "hidden" }
}
