/// The account token of a user.
public struct AppAccountTokenResource: Codable, Sendable {
    /// The UUID that the app puts into its purchases (StoreKit's `appAccountToken`), in lowercase.
    public let appAccountToken: String

    public init(appAccountToken: String) {
        self.appAccountToken = appAccountToken
    }
}
