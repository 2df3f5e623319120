/// The body of a notification from the App Store (App Store Server Notifications V2).
public struct SignedNotification: Codable, Sendable {
    /// A JWS.
    public let signedPayload: String

    public init(signedPayload: String) {
        self.signedPayload = signedPayload
    }
}
