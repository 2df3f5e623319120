/// The certificate extensions with which Apple marks signers of receipts (Apple, "Worldwide Developer Relations
/// Certificate Practice Statement"). Their value is NULL, so only their presence matters.
public enum AppleExtension: String, Sendable, CaseIterable {
    /// The leaf's extension: Mac App Store receipt signing.
    case receiptSigning = "1.2.840.113635.100.6.11.1"
    /// The intermediate's extension: Apple Worldwide Developer Relations.
    case worldwideDeveloperRelations = "1.2.840.113635.100.6.2.1"
}
