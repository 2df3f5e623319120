import Catalog
import Foundation
import Proofs

/// The answer of `GET /v1/subscribers/{user}/offerings`.
package struct RevenueCatOfferings: Hashable, Sendable {
    /// A set of packages that an app offers together.
    package struct Offering: Hashable, Sendable {
        package let identifier: String
        package let description: String
        /// The team's own values for the app; nil for none.
        package let metadata: JSONObject?
        package let packages: [Package]

        package init(identifier: String, description: String, metadata: JSONObject? = nil, packages: [Package]) {
            self.identifier = identifier
            self.description = description
            self.metadata = metadata
            self.packages = packages
        }
    }

    /// A product under a name that the app knows, such as `$rc_monthly`.
    package struct Package: Hashable, Sendable {
        package let identifier: String
        package let productIdentifier: String

        package init(identifier: String, productIdentifier: String) {
            self.identifier = identifier
            self.productIdentifier = productIdentifier
        }
    }

    /// Nil if no offering is current.
    package let currentOfferingIdentifier: String?
    package let offerings: [Offering]

    package init(currentOfferingIdentifier: String?, offerings: [Offering]) {
        self.currentOfferingIdentifier = currentOfferingIdentifier
        self.offerings = offerings
    }

    package var json: JSONValue {
        .object([
            "current_offering_id": .text(currentOfferingIdentifier),
            "offerings": .array(offerings.map(\.json)),
        ])
    }
}

extension RevenueCatOfferings.Offering {
    fileprivate var json: JSONValue {
        .object([
            "description": .string(description),
            "identifier": .string(identifier),
            "metadata": metadata.map { .object($0) } ?? .null,
            "packages": .array(
                packages.map { package in
                    .object([
                        "identifier": .string(package.identifier),
                        "platform_product_identifier": .string(package.productIdentifier),
                    ])
                }),
        ])
    }
}

extension RevenueCatOfferings {
    /// The offerings of an app, with the packages whose products are for sale.
    init(_ catalog: Catalog) {
        self.init(
            currentOfferingIdentifier: catalog.currentOffering?.identifier,
            offerings: catalog.offerings.map { offering in
                Offering(
                    identifier: offering.identifier, description: offering.description,
                    metadata: offering.metadata.members.isEmpty ? nil : offering.metadata,
                    packages: catalog.packagesForSale(of: offering).map {
                        Package(identifier: $0.identifier, productIdentifier: $0.productIdentifier)
                    })
            })
    }
}

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

/// The answer of `POST /v1/offers`.
package struct SignedOffers: Sendable {
    /// The signature of an offer, or the reason for none.
    package enum Result: Sendable {
        case signed(PromotionalOfferSignature)
        case refused(RevenueCatErrorNumber, message: String)
    }

    package let offers: [(offer: OfferRequest.Offer, result: Result)]

    package init(_ offers: [(offer: OfferRequest.Offer, result: Result)]) {
        self.offers = offers
    }

    package var json: JSONValue {
        .object(["offers": .array(offers.map { Self.json($0.offer, $0.result) })])
    }

    private static func json(_ offer: OfferRequest.Offer, _ result: Result) -> JSONValue {
        var object: JSONObject = [
            "offer_id": .string(offer.identifier), "product_id": .string(offer.productIdentifier),
        ]
        switch result {
        case .signed(let signature):
            _ = object.add("key_id", .string(signature.keyIdentifier))
            _ = object.add(
                "signature_data",
                .object([
                    "nonce": .string(signature.nonce.uuidString.lowercased()),
                    "signature": .string(signature.signature),
                    "timestamp": .integer(signature.timestamp.millisecondsSince1970),
                ]))
        case .refused(let number, let message):
            _ = object.add(
                "signature_error", .object(["code": .integer(number.rawValue), "message": .string(message)]))
        }
        return .object(object)
    }
}
