import Proofs

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
