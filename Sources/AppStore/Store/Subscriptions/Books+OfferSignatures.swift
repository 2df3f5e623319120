import Foundation
import Proofs

/// The signature check of promotional offers, as in the App Store.
extension Books {
    /// - Throws: `PaymentFailure` if the signature is not the developer's, is for another payment, or is too old.
    func check(
        _ signature: PromotionalOfferSignature,
        of offer: Payment.OfferChoice,
        for payment: Payment
    ) throws {
        let message = signature.message(
            bundleIdentifier: bundleIdentifier, productIdentifier: payment.productIdentifier,
            offerIdentifier: offer.identifier, applicationUsername: payment.appAccountToken?.uuidString ?? "")
        guard signature.isCurrent(at: now), let bytes = Base64.decode(signature.signature.utf8),
            try offerKeys(signature.keyIdentifier).contains(where: {
                $0.verifiesECDSA(bytes, over: Array(message.utf8))
            })
        else { throw PaymentFailure(error: .invalidSignature) }
    }

    /// The keys of the team, and the one of the StoreKit configuration.
    private func offerKeys(_ identifier: String) throws -> [PublicKey] {
        var keys = try Store.teamKeys(in: self).filter { $0.keyIdentifier == identifier }
            .compactMap { PublicKey(pem: $0.publicKey) }
        if let pair = configuration.subscriptionOffersKeyPair, pair.identifier == identifier,
            let key = try? PrivateKey(pkcs8: pair.privateKey)
        {
            keys.append(key.publicKey)
        }
        return keys
    }
}
