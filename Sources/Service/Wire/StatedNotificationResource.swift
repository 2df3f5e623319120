import Proofs

/// A notification of the App Store about a purchase.
package struct StatedNotificationResource: Codable, Sendable {
    package let notificationUUID: String
    package let origin: Origin
    /// The type in Apple's words.
    package let type: String
    package var subtype: String?
    package var transactionId: String?
    package var originalTransactionId: String?
    /// Dates are RFC 3339, UTC.
    package let signedAt: String
    package let receivedAt: String
    /// `granted`, `revoked`, `recorded` or `parked`.
    package let outcome: String
    /// The decoded notification without the nested proofs.
    package var content: JSONContent?
}
