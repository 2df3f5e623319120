/// An account's purchase of the app.
public struct AppTransactionResource: Codable, Sendable {
    /// A JWS.
    public let signedAppTransaction: String

    public init(signedAppTransaction: String) {
        self.signedAppTransaction = signedAppTransaction
    }
}
