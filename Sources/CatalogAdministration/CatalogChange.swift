import Commerce
import Ledger

/// Something that somebody has done to the catalog.
public struct CatalogChange: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A product was created, or what is said of it is another.
        case defined
        /// A product is again what the catalog's files say.
        case reverted
        /// A product is sold no more.
        case withdrawn
        /// It is sold again.
        case restored
        /// What a product grants looks another way.
        case pictured
    }

    /// What it comes to.
    public enum Content: Hashable, Sendable {
        /// JSON, as the catalog reads it.
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

    /// 1 for the first: the catalog's revision that it has made.
    public let number: Int64
    public let happenedAt: Timestamp
    /// The API key's identifier.
    public let changedBy: String
    /// The bundle identifier of the app that sells the product.
    public let app: String
    public let productIdentifier: String
    public let content: Content

    public init(
        number: Int64,
        happenedAt: Timestamp,
        changedBy: String,
        app: String,
        productIdentifier: String,
        content: Content
    ) {
        self.number = number
        self.happenedAt = happenedAt
        self.changedBy = changedBy
        self.app = app
        self.productIdentifier = productIdentifier
        self.content = content
    }
}

/// All that is administered beside a catalog's files, as it is now.
public struct CatalogRecord: Hashable, Sendable {
    public struct Product: Hashable, Sendable {
        /// The bundle identifier of the app that sells the product.
        public let app: String
        public let productIdentifier: String
        /// nil where the files' counts.
        public let definition: String?
        public let isWithdrawn: Bool
    }

    /// The number of the last change; 0 where nothing was ever changed.
    public let revision: Int64
    /// In the order in which they were first changed.
    public let products: [Product]
    /// The SHA-256 of each.
    public let pictures: [Item: [UInt8]]
}
