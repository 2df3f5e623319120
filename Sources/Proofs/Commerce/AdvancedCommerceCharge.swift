/// A one-time charge for a product that the developer's server describes (Advanced Commerce API, `OneTimeChargeCreateRequest`). The App
/// Store knows a generic product in its place.
public struct AdvancedCommerceCharge: Hashable, Sendable, Codable {
    /// The developer's identifier of the product.
    public let sku: String
    public let displayName: String
    public let description: String
    public let price: Price
    public let taxCode: String
    /// The identifier of the request, as the developer's server wrote it.
    public let requestReferenceIdentifier: String

    public init(
        sku: String,
        displayName: String,
        description: String,
        price: Price,
        taxCode: String,
        requestReferenceIdentifier: String
    ) {
        self.sku = sku
        self.displayName = displayName
        self.description = description
        self.price = price
        self.taxCode = taxCode
        self.requestReferenceIdentifier = requestReferenceIdentifier
    }
}
