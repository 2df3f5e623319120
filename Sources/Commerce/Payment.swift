/// A request to buy (SKPayment).
public struct Payment: Hashable, Sendable {
    /// The quantities StoreKit takes.
    public static let quantities = 1...10

    public let productIdentifier: String
    public let quantity: Int

    public init(productIdentifier: String, quantity: Int = 1) {
        self.productIdentifier = productIdentifier
        self.quantity = quantity
    }
}
