import Foundation

/// A request to buy (SKPayment).
public struct Payment: Hashable, Sendable {
    /// The quantities StoreKit takes.
    public static let quantities = 1...10

    public let productIdentifier: String
    public let quantity: Int
    /// Whom the app buys for, as its server knows them (`appAccountToken`).
    public let appAccountToken: UUID?
    /// The offer asked for, at most one; nil for the standard price, or an introductory offer that the customer may have.
    public var offer: OfferChoice? { offers.first }
    /// Behind an array, so that a transaction stays small enough to be returned by what throws.
    private let offers: [OfferChoice]

    /// An offer of a subscription, as an app asks for it.
    public struct OfferChoice: Hashable, Sendable, Codable {
        public let kind: SubscriptionOffer.Kind
        /// Of an offer code its reference name.
        public let identifier: String
        /// Of a promotional offer; nil for one that the store takes as signed.
        public let signature: PromotionalOfferSignature?

        public init(
            kind: SubscriptionOffer.Kind,
            identifier: String,
            signature: PromotionalOfferSignature? = nil
        ) {
            self.kind = kind
            self.identifier = identifier
            self.signature = signature
        }
    }

    public init(
        productIdentifier: String,
        quantity: Int = 1,
        appAccountToken: UUID? = nil,
        offer: OfferChoice? = nil
    ) {
        self.productIdentifier = productIdentifier
        self.quantity = quantity
        self.appAccountToken = appAccountToken
        offers = offer.map { [$0] } ?? []
    }
}
