import Proofs

/// The state of the catalog after all changes in the ledger.
public struct CatalogRecord: Hashable, Sendable {
    public struct Product: Hashable, Sendable {
        /// The bundle identifier of the app that sells the product.
        public let app: String
        public let productIdentifier: String
        /// The definition as JSON; nil if the files' definition is valid.
        public let definition: String?
        public let isWithdrawn: Bool
    }

    /// The definition of a right, an offering or the current offering that differs from the files.
    public struct Definition: Hashable, Sendable {
        /// The bundle identifier of the app.
        public let app: String
        public let subject: CatalogSubject
        /// The definition as JSON.
        public let text: String
    }

    /// The number of the last change; 0 if there is none.
    public let revision: Int64
    /// The changed products, in the order of their first changes.
    public let products: [Product]
    /// The changed rights and offerings, in the order of their first changes.
    public let offerings: [Definition]
    /// The SHA-256 of each item's picture.
    public let pictures: [Item: [UInt8]]
}
