/// A request to raise the price of a subscription.
public struct PriceIncreaseRequest: Codable, Sendable {
    /// The price in milliunits of the currency.
    public let price: Int64
    /// True if the customer must consent. The default is true.
    public let needsConsent: Bool?

    public init(price: Int64, needsConsent: Bool? = nil) {
        self.price = price
        self.needsConsent = needsConsent
    }
}
