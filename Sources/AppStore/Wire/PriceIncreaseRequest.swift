/// A request to raise the price of a subscription.
struct PriceIncreaseRequest: Codable, Sendable {
    /// The price in milliunits of the currency.
    let price: Int64
    /// True if the customer must consent. The default is true.
    var needsConsent: Bool?
}
