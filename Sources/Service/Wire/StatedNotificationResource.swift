import Proofs

/// A notification of the App Store about a purchase.
public struct StatedNotificationResource: Codable, Sendable {
    public let notificationUUID: String
    public let origin: Origin
    /// The type in Apple's words.
    public let type: String
    public let subtype: String?
    public let transactionId: String?
    public let originalTransactionId: String?
    /// Dates are RFC 3339, UTC.
    public let signedAt: String
    public let receivedAt: String
    /// `granted`, `revoked`, `recorded` or `parked`.
    public let outcome: String
    /// The decoded notification without the nested proofs.
    public let content: JSONContent?

    public init(
        notificationUUID: String,
        origin: Origin,
        type: String,
        subtype: String? = nil,
        transactionId: String? = nil,
        originalTransactionId: String? = nil,
        signedAt: String,
        receivedAt: String,
        outcome: String,
        content: JSONContent? = nil
    ) {
        self.notificationUUID = notificationUUID
        self.origin = origin
        self.type = type
        self.subtype = subtype
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.signedAt = signedAt
        self.receivedAt = receivedAt
        self.outcome = outcome
        self.content = content
    }
}
