import Proofs

/// A notification of the App Store about a purchase, as the ledger stores it.
public struct StatedNotification: Hashable, Sendable {
    public let notificationUUID: String
    public let origin: Origin
    /// The type, in Apple's words.
    public let type: String
    public let subtype: String?
    public let transactionIdentifier: String?
    public let originalTransactionIdentifier: String?
    public let signedAt: Timestamp
    public let receivedAt: Timestamp
    public let outcome: NotificationOutcome
    /// The decoded notification as JSON, without the proofs inside it; nil if it was too long.
    public let content: String?
}
