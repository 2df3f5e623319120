import Catalog
import Foundation
import Proofs

/// The answer of `GET /v1/subscribers/{user}/offerings`.
package enum RevenueCatOfferings {
    /// The offerings of an app, with the packages whose products are for sale.
    static func json(of catalog: Catalog) -> JSONValue {
        json(current: catalog.currentOffering, catalog.offerings.map { ($0, catalog.packagesForSale(of: $0)) })
    }

    /// - Parameter current: Nil if no offering is current.
    package static func json(current: Offering?, _ offerings: [(Offering, packages: [Offering.Package])]) -> JSONValue {
        .object([
            "current_offering_id": .text(current?.identifier),
            "offerings": .array(
                offerings.map { offering, packages in
                    .object([
                        "description": .string(offering.description),
                        "identifier": .string(offering.identifier),
                        "metadata": offering.metadata.members.isEmpty ? .null : .object(offering.metadata),
                        "packages": .array(
                            packages.map { package in
                                .object([
                                    "identifier": .string(package.identifier),
                                    "platform_product_identifier": .string(package.productIdentifier),
                                ])
                            }),
                    ])
                }),
        ])
    }
}

/// The answer of `POST /v1/offers`: the promotional offers that an app asks for, signed or refused.
package struct SignedOffers: Sendable {
    /// The signature of an offer, or the reason for none.
    package enum Result: Sendable {
        case signed(PromotionalOfferSignature)
        case refused(RevenueCatErrorNumber, message: String)
    }

    private let offers: [(offer: OfferRequest.Offer, result: Result)]

    package init(_ offers: [(offer: OfferRequest.Offer, result: Result)]) {
        self.offers = offers
    }

    /// Signs the offers of a request that the app's catalog has.
    ///
    /// - Parameter signer: Nil if the service has no key for the app.
    /// - Throws: The error of a key that cannot sign.
    init(
        _ asked: OfferRequest,
        in catalog: Catalog,
        by signer: DoorServices.OfferSigner?,
        at moment: Timestamp
    ) throws {
        // The SDK sets the account token of a purchase only to an id that is a UUID.
        let token = UUID(uuidString: asked.user)?.uuidString ?? ""
        offers = try asked.offers.map { offer in
            guard let signer else {
                let message = "The service has no key for the app. Set app-store-key."
                return (offer, .refused(.invalidAppleSubscriptionKey, message: message))
            }
            let known = catalog.product(offer.productIdentifier)?.subscription?.offers ?? []
            guard
                known.contains(where: {
                    $0.kind == .promotional && $0.identifier?.hasSameBytes(as: offer.identifier) ?? false
                })
            else {
                let message = "The catalog has no offer \"\(offer.identifier)\" of this product."
                return (offer, .refused(.notEligibleForOffer, message: message))
            }
            return (offer, .signed(try signer(offer.productIdentifier, offer.identifier, token, moment)))
        }
    }

    package var json: JSONValue { .object(["offers": .array(offers.map { Self.json($0.offer, $0.result) })]) }

    private static func json(_ offer: OfferRequest.Offer, _ result: Result) -> JSONValue {
        let (identifier, product) = (JSONValue.string(offer.identifier), JSONValue.string(offer.productIdentifier))
        switch result {
        case .signed(let signature):
            return .object([
                "offer_id": identifier, "product_id": product, "key_id": .string(signature.keyIdentifier),
                "signature_data": .object([
                    "nonce": .string(signature.nonce.uuidString.lowercased()),
                    "signature": .string(signature.signature),
                    "timestamp": .integer(signature.timestamp.millisecondsSince1970),
                ]),
            ])
        case .refused(let number, let message):
            return .object([
                "offer_id": identifier, "product_id": product,
                "signature_error": .object(["code": .integer(number.rawValue), "message": .string(message)]),
            ])
        }
    }
}
