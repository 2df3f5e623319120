/// The account token of a user.
package struct AppAccountTokenResource: Codable, Sendable {
    /// The UUID that the app puts into its purchases (StoreKit's `appAccountToken`), in lowercase.
    package let appAccountToken: String
}
