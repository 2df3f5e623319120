import Proofs

/// The state of the catalog after all changes in the ledger.
package struct CatalogRecord: Hashable, Sendable {
    package struct Product: Hashable, Sendable {
        /// The bundle identifier of the app that sells the product.
        package let app: String
        package let productIdentifier: String
        /// The definition as JSON; nil if the files' definition is valid.
        package let definition: String?
        package let isWithdrawn: Bool
    }

    /// The definition of a right, an offering or the current offering that differs from the files.
    package struct Definition: Hashable, Sendable {
        /// The bundle identifier of the app.
        package let app: String
        package let subject: CatalogSubject
        /// The definition as JSON.
        package let text: String
    }

    /// The number of the last change; 0 if there is none.
    package let revision: Int64
    /// The changed products, in the order of their first changes.
    package let products: [Product]
    /// The changed rights and offerings, in the order of their first changes.
    package let offerings: [Definition]
    /// The SHA-256 of each item's picture.
    package let pictures: [Item: [UInt8]]
}
