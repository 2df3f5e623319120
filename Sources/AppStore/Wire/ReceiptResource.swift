/// The app receipt of an account.
public struct ReceiptResource: Codable, Sendable {
    /// The PKCS#7 container in base64.
    public let receipt: String

    public init(receipt: String) {
        self.receipt = receipt
    }
}
