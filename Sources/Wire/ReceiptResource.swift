/// The app receipt of an account.
public struct ReceiptResource: Codable, Sendable {
    /// PKCS #7 in base64.
    public let receipt: String

    public init(receipt: String) {
        self.receipt = receipt
    }
}
