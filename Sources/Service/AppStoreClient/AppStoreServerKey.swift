import Features
import Foundation
import Proofs

/// A team's key for the App Store Server API (App Store Connect, "In-App Purchase key").
package struct AppStoreServerKey: Sendable {
    package let keyIdentifier: String
    package let issuerIdentifier: String
    package let bundleIdentifier: String
    private let privateKey: PrivateKey

    /// - Parameter privateKey: The content of the `.p8` file, in PEM.
    /// - Throws: `ReconciliationError`, `keyInvalid`.
    package init(
        privateKey: String,
        keyIdentifier: String,
        issuerIdentifier: String,
        bundleIdentifier: String
    ) throws(ReconciliationError) {
        self.keyIdentifier = keyIdentifier
        self.issuerIdentifier = issuerIdentifier
        self.bundleIdentifier = bundleIdentifier
        guard let key = try? PrivateKey(pem: privateKey), key.publicKey.kind == .ellipticCurve(.p256) else {
            throw .keyInvalid
        }
        self.privateKey = key
    }

    /// The age of a new token, in seconds. Apple refuses a token whose `iat` is in the future by Apple's clock.
    static let tokenAge: Int64 = 30

    /// A token that is valid for five minutes (App Store Server API, "Generating JSON Web Tokens for API requests").
    package func token(at now: Timestamp) throws -> String {
        let seconds = now.secondsSince1970
        let header = JSONValue.object(["alg": "ES256", "kid": .string(keyIdentifier), "typ": "JWT"])
        let claims = JSONValue.object([
            "iss": .string(issuerIdentifier), "iat": .integer(seconds - Self.tokenAge), "exp": .integer(seconds + 300),
            "aud": "appstoreconnect-v1", "bid": .string(bundleIdentifier),
        ])
        let signed = [header, claims].map { Base64.encode($0.compactText.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try privateKey.signES256(Array(signed.utf8))
        return signed + "." + Base64.encode(signature, .urlSafe)
    }

    /// Signs a promotional offer (Apple, "Generating a signature for promotional offers").
    ///
    /// - Parameter applicationUsername: The account token of the purchase, or an empty string.
    package func sign(
        offer: String,
        of product: String,
        applicationUsername: String,
        nonce: UUID,
        at moment: Timestamp
    ) throws -> PromotionalOfferSignature {
        func signature(_ text: String) -> PromotionalOfferSignature {
            PromotionalOfferSignature(keyIdentifier: keyIdentifier, nonce: nonce, timestamp: moment, signature: text)
        }
        let message = signature("").message(
            bundleIdentifier: bundleIdentifier, productIdentifier: product, offerIdentifier: offer,
            applicationUsername: applicationUsername)
        return signature(Base64.encode(try privateKey.signECDSA(Array(message.utf8))))
    }
}
