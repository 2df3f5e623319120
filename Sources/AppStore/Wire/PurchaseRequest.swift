import Foundation

/// A request to buy a product.
public struct PurchaseRequest: Codable, Sendable {
    /// The server's signature, with the field names of StoreKit's `SKPaymentDiscount`.
    public struct OfferSignature: Codable, Sendable {
        public let keyIdentifier: String
        public let nonce: UUID
        /// The date of the signature in milliseconds since 1970.
        public let timestamp: Int64
        /// The signature in base64.
        public let signature: String

        public init(keyIdentifier: String, nonce: UUID, timestamp: Int64, signature: String) {
            self.keyIdentifier = keyIdentifier
            self.nonce = nonce
            self.timestamp = timestamp
            self.signature = signature
        }
    }

    public let account: String
    public let productId: String
    /// The quantity. The default is 1.
    public let quantity: Int?
    public let appAccountToken: UUID?
    /// `promotional`, `offerCode` or `winBack`.
    public let offerType: String?
    public let offerIdentifier: String?
    /// The signature of a promotional offer.
    public let offerSignature: OfferSignature?
    /// The outcome. The default is `purchased`.
    public let outcome: String?

    public init(
        account: String,
        productId: String,
        quantity: Int? = nil,
        appAccountToken: UUID? = nil,
        offerType: String? = nil,
        offerIdentifier: String? = nil,
        offerSignature: OfferSignature? = nil,
        outcome: String? = nil
    ) {
        self.account = account
        self.productId = productId
        self.quantity = quantity
        self.appAccountToken = appAccountToken
        self.offerType = offerType
        self.offerIdentifier = offerIdentifier
        self.offerSignature = offerSignature
        self.outcome = outcome
    }
}
