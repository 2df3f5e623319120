import Foundation

/// A request to buy a product.
public struct PurchaseRequest: Codable, Sendable {
    /// The server's signature, with the names of StoreKit's `SKPaymentDiscount`.
    public struct OfferSignature: Codable, Sendable {
        public let keyIdentifier: String
        public let nonce: UUID
        /// Milliseconds since 1970.
        public let timestamp: Int64
        /// In base64.
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
    /// 1 if nil.
    public let quantity: Int?
    public let appAccountToken: UUID?
    /// `promotional`, `offerCode` or `winBack`.
    public let offerType: String?
    public let offerIdentifier: String?
    /// Only for a promotional offer.
    public let offerSignature: OfferSignature?
    /// `purchased` if nil.
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
