import Ledger
import Proofs

/// A change of the catalog in the ledger.
package struct CatalogChange: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The subject was created, or its definition was changed.
        case defined
        /// The subject has the definition of the files again.
        case reverted
        /// A product is no longer for sale.
        case withdrawn
        /// A product is for sale again.
        case restored
        /// The item of a product has a new picture.
        case pictured
    }

    /// The content of a change.
    package enum Content: Hashable, Sendable {
        /// The definition as JSON, in the catalog's format.
        case definition(String)
        case reversion
        case withdrawal
        case restoration
        case picture(of: Item, digest: [UInt8])

        package var kind: Kind {
            switch self {
            case .definition: .defined
            case .reversion: .reverted
            case .withdrawal: .withdrawn
            case .restoration: .restored
            case .picture: .pictured
            }
        }
    }

    /// The number of the change, from 1. It is the catalog's revision after the change.
    package let number: Int64
    package let happenedAt: Timestamp
    /// The identifier of the caller's API key.
    package let changedBy: String
    /// The bundle identifier of the app whose catalog was changed.
    package let app: String
    package let subject: CatalogSubject
    package let content: Content

    package init(
        number: Int64,
        happenedAt: Timestamp,
        changedBy: String,
        app: String,
        subject: CatalogSubject,
        content: Content
    ) {
        self.number = number
        self.happenedAt = happenedAt
        self.changedBy = changedBy
        self.app = app
        self.subject = subject
        self.content = content
    }
}
