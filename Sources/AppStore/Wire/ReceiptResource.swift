/// The app receipt of an account.
struct ReceiptResource: Codable, Sendable {
    /// The PKCS#7 container in base64.
    let receipt: String
}
