/// An account's purchase of the app.
package struct AppTransactionResource: Codable, Sendable {
    /// A JWS.
    package let signedAppTransaction: String
}
