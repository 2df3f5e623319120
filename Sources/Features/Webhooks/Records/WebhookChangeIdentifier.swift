/// The identifier of a change: its number among the changes of a webhook in one millisecond, and random bytes, so that
/// concurrent changes do not conflict. Identifiers of one millisecond are sorted by the order of recording.
package struct WebhookChangeIdentifier: Hashable, Sendable {
    /// The number of random bytes.
    package static let randomCount = 8

    /// The big-endian number, and then the random bytes.
    package let bytes: [UInt8]

    /// - Parameter last: The greatest identifier of the webhook in the same millisecond; nil for none.
    package init(after last: [UInt8]?, randomBytes: [UInt8]) {
        let next = last.map { $0.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } &+ 1 } ?? 1
        bytes = (0..<8).map { UInt8(truncatingIfNeeded: next >> (56 - 8 * $0)) } + randomBytes
    }
}
