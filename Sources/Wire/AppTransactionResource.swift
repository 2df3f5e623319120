/// The app itself, as an account has it.
public struct AppTransactionResource: Codable, Sendable {
    /// A JWS.
    public let signedAppTransaction: String

    public init(signedAppTransaction: String) {
        self.signedAppTransaction = signedAppTransaction
    }
}
