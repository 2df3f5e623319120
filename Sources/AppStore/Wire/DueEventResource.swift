/// A change of a subscription that time brought about.
public struct DueEventResource: Codable, Sendable {
    /// `renewed`, `renewalFailed`, `gracePeriodEnded` or `expired`.
    public let kind: String
    /// RFC 3339, UTC.
    public let date: String
    public let account: String
    public let productId: String
    public let transactionId: String

    public init(kind: String, date: String, account: String, productId: String, transactionId: String) {
        self.kind = kind
        self.date = date
        self.account = account
        self.productId = productId
        self.transactionId = transactionId
    }
}
