import Foundation
import Proofs

/// A developer's signature for a promotional offer (StoreKit, `SKPaymentDiscount`).
public struct PromotionalOfferSignature: Hashable, Sendable, Codable {
    public let keyIdentifier: String
    public let nonce: UUID
    /// The date of the signature, in milliseconds since 1970.
    public let timestamp: Timestamp
    /// An ECDSA signature over P-256 and SHA-256, in DER and base64.
    public let signature: String

    public init(keyIdentifier: String, nonce: UUID, timestamp: Timestamp, signature: String) {
        self.keyIdentifier = keyIdentifier
        self.nonce = nonce
        self.timestamp = timestamp
        self.signature = signature
    }

    /// Returns the signed text (Apple, "Generating a signature for promotional offers").
    ///
    /// - Parameter applicationUsername: The account token of the purchase, or an empty string if it has none.
    public func message(
        bundleIdentifier: String,
        productIdentifier: String,
        offerIdentifier: String,
        applicationUsername: String
    ) -> String {
        [
            bundleIdentifier, keyIdentifier, productIdentifier, offerIdentifier, applicationUsername.lowercased(),
            nonce.uuidString.lowercased(), String(timestamp.millisecondsSince1970),
        ].joined(separator: "\u{2063}")
    }
}
