import Foundation

/// A request for a purchase (SKPayment).
public struct Payment: Hashable, Sendable {
    /// The quantities that StoreKit accepts.
    public static let quantities = 1...10

    public let productIdentifier: String
    public let quantity: Int
    /// The account token that the app's server assigned to the user (`appAccountToken`).
    public let appAccountToken: UUID?
    /// The requested offer. Nil for the standard price, or for an introductory offer if the customer is eligible.
    public var offer: OfferChoice? { offers.first }
    /// The offer, at most one. The array keeps a transaction small enough for the result of a throwing function.
    private let offers: [OfferChoice]

    /// A subscription offer that an app requests.
    public struct OfferChoice: Hashable, Sendable, Codable {
        public let kind: SubscriptionOffer.Kind
        /// The identifier. For an offer code, its reference name.
        public let identifier: String
        /// The signature of a promotional offer. Nil if the store treats the offer as signed.
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
