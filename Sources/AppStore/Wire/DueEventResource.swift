/// A change of a subscription that time brought about.
package struct DueEventResource: Codable, Sendable {
    /// `renewed`, `renewalFailed`, `gracePeriodEnded` or `expired`.
    package let kind: String
    /// RFC 3339, UTC.
    package let date: String
    package let account: String
    package let productId: String
    package let transactionId: String
}
