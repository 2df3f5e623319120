/// A request to raise the price of a subscription.
public struct PriceIncreaseRequest: Codable, Sendable {
    /// Milliunits of the currency.
    public let price: Int64
    /// True if nil.
    public let needsConsent: Bool?

    public init(price: Int64, needsConsent: Bool? = nil) {
        self.price = price
        self.needsConsent = needsConsent
    }
}
