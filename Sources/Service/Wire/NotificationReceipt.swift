/// The service's answer to a notification of the App Store.
package struct NotificationReceipt: Codable, Sendable {
    /// `granted`, `revoked`, `duplicate` or another outcome.
    package let outcome: String
}
