import Foundation

/// A request to buy a product.
struct PurchaseRequest: Codable, Sendable {
    /// The server's signature, with the field names of StoreKit's `SKPaymentDiscount`.
    struct OfferSignature: Codable, Sendable {
        let keyIdentifier: String
        let nonce: UUID
        /// The date of the signature in milliseconds since 1970.
        let timestamp: Int64
        /// The signature in base64.
        let signature: String
    }

    let account: String
    let productId: String
    /// The quantity. The default is 1.
    var quantity: Int?
    var appAccountToken: UUID?
    /// `promotional`, `offerCode` or `winBack`.
    var offerType: String?
    var offerIdentifier: String?
    /// The signature of a promotional offer.
    var offerSignature: OfferSignature?
    /// The outcome. The default is `purchased`.
    var outcome: String?
}
