import Ledger
import Proofs

/// A change of the catalog in the ledger.
public struct CatalogChange: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
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
    public enum Content: Hashable, Sendable {
        /// The definition as JSON, in the catalog's format.
        case definition(String)
        case reversion
        case withdrawal
        case restoration
        case picture(of: Item, digest: [UInt8])

        public var kind: Kind {
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
    public let number: Int64
    public let happenedAt: Timestamp
    /// The identifier of the caller's API key.
    public let changedBy: String
    /// The bundle identifier of the app whose catalog was changed.
    public let app: String
    public let subject: CatalogSubject
    public let content: Content

    public init(
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
