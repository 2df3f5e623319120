/// The body of a notification from the App Store (App Store Server Notifications V2).
struct SignedNotification: Codable, Sendable {
    /// A JWS.
    let signedPayload: String
}
