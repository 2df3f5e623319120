import Proofs

/// A change to the catalog.
public struct CatalogChangeResource: Codable, Sendable {
    public let number: Int64
    /// RFC 3339, UTC.
    public let happenedAt: String
    /// The identifier of the API key.
    public let changedBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    public let changedByName: String?
    public let kind: String
    /// The product. Nil for a change of a right or an offering.
    public let productId: String?
    /// The name of the right. Nil for a change of something else.
    public let right: String?
    /// The identifier of the offering. Nil for a change of something else.
    public let offering: String?
    /// True for a change of the current offering, which the definition names. Nil for a change of something else.
    public let isOfCurrentOffering: Bool?
    /// The new definition. Nil for other kinds of change.
    public let definition: JSONContent?
    /// The item with a new picture. Nil for other kinds of change.
    public let item: Item?
    /// The SHA-256 of the new picture, in hexadecimal.
    public let sha256: String?

    public init(
        number: Int64,
        happenedAt: String,
        changedBy: String,
        changedByName: String? = nil,
        kind: String,
        productId: String? = nil,
        right: String? = nil,
        offering: String? = nil,
        isOfCurrentOffering: Bool? = nil,
        definition: JSONContent? = nil,
        item: Item? = nil,
        sha256: String? = nil
    ) {
        self.number = number
        self.happenedAt = happenedAt
        self.changedBy = changedBy
        self.changedByName = changedByName
        self.kind = kind
        self.productId = productId
        self.right = right
        self.offering = offering
        self.isOfCurrentOffering = isOfCurrentOffering
        self.definition = definition
        self.item = item
        self.sha256 = sha256
    }
}
