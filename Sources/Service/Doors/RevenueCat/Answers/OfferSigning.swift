import Catalog
import Foundation
import Proofs

/// Signs the promotional offers that an app asks for.
struct OfferSigning: Sendable {
    let services: DoorServices
    let catalog: Catalog

    /// - Throws: The error of a key that cannot sign.
    func sign(_ asked: OfferRequest) throws -> SignedOffers {
        // The SDK sets the account token of a purchase only to an id that is a UUID.
        let token = UUID(uuidString: asked.user)
        return SignedOffers(
            try asked.offers.map { offer in
                guard let signer = services.offerSigners[ByteKey(catalog.bundleIdentifier)] else {
                    return (
                        offer,
                        .refused(
                            .invalidAppleSubscriptionKey,
                            message: "The service has no key for the app. Set app-store-key.")
                    )
                }
                guard has(offer) else {
                    return (
                        offer,
                        .refused(
                            .notEligibleForOffer,
                            message: "The catalog has no offer \"\(offer.identifier)\" of this product.")
                    )
                }
                return (
                    offer,
                    .signed(
                        try signer(
                            offer.productIdentifier, offer.identifier, token?.uuidString ?? "", services.clock.now())
                    )
                )
            })
    }

    private func has(_ offer: OfferRequest.Offer) -> Bool {
        catalog.product(offer.productIdentifier)?.subscription?.offers.contains {
            $0.kind == .promotional && $0.identifier?.hasSameBytes(as: offer.identifier) ?? false
        } ?? false
    }
}
