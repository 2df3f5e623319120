/// The certificate extensions by which Apple marks who may sign receipts (Apple, "Worldwide Developer Relations
/// Certificate Practice Statement"); their presence counts, their value is NULL.
public enum AppleExtension: String, Sendable, CaseIterable {
    /// On the leaf: Mac App Store receipt signing.
    case receiptSigning = "1.2.840.113635.100.6.11.1"
    /// On the intermediate: Apple Worldwide Developer Relations.
    case worldwideDeveloperRelations = "1.2.840.113635.100.6.2.1"
}
