import Proofs

/// A notification of the App Store about a purchase, as the ledger stores it.
package struct StatedNotification: Hashable, Sendable {
    package let notificationUUID: String
    package let origin: Origin
    /// The type, in Apple's words.
    package let type: String
    package let subtype: String?
    package let transactionIdentifier: String?
    package let originalTransactionIdentifier: String?
    package let signedAt: Timestamp
    package let receivedAt: Timestamp
    package let outcome: NotificationOutcome
    /// The decoded notification as JSON, without the proofs inside it; nil if it was too long.
    package let content: String?
}
