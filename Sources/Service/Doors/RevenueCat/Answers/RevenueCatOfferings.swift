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

/// The answer of `POST /v1/offers`: the promotional offers that an app asks for, each with its signature or the reason for none.
extension OfferRequest {
    /// - Parameters:
    ///   - catalog: The app's catalog, which has the offers.
    ///   - signer: Nil if the service has no key for the app.
    /// - Throws: The error of a key that cannot sign.
    package func answer(
        from catalog: Catalog,
        signedBy signer: DoorServices.OfferSigner?,
        at moment: Timestamp
    ) throws -> JSONValue {
        // The SDK sets the account token of a purchase only to an id that is a UUID.
        let token = UUID(uuidString: user)?.uuidString ?? ""
        let answers = try offers.map { offer in
            var json: JSONObject = [
                "offer_id": .string(offer.identifier), "product_id": .string(offer.productIdentifier),
            ]
            func refuse(_ number: RevenueCatErrorNumber, _ message: String) {
                _ = json.add(
                    "signature_error", .object(["code": .integer(number.rawValue), "message": .string(message)]))
            }
            let known = catalog.product(offer.productIdentifier)?.subscription?.offers ?? []
            if signer == nil {
                refuse(.invalidAppleSubscriptionKey, "The service has no key for the app. Set app-store-key.")
            } else if !known.contains(where: {
                $0.kind == .promotional && $0.identifier?.hasSameBytes(as: offer.identifier) ?? false
            }) {
                refuse(.notEligibleForOffer, "The catalog has no offer \"\(offer.identifier)\" of this product.")
            } else if let signature = try signer?(offer.productIdentifier, offer.identifier, token, moment) {
                _ = json.add("key_id", .string(signature.keyIdentifier))
                let data: JSONObject = [
                    "nonce": .string(signature.nonce.lowercasedString), "signature": .string(signature.signature),
                    "timestamp": .integer(signature.timestamp.millisecondsSince1970),
                ]
                _ = json.add("signature_data", .object(data))
            }
            return JSONValue.object(json)
        }
        return .object(["offers": .array(answers)])
    }
}
