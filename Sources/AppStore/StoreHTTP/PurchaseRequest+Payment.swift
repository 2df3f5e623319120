import HTTPSupport
import Proofs

extension PurchaseRequest: SandboxRequest {
    static let fields = [
        "account", "productId", "quantity", "appAccountToken", "offerType", "offerIdentifier", "offerSignature",
        "outcome",
    ]

    func payment() throws(Problem) -> Payment {
        var offer: Payment.OfferChoice?
        if let offerIdentifier {
            guard let kind = offerType.flatMap(SubscriptionOffer.Kind.init(name:)), kind != .introductory else {
                throw SandboxBody.invalid("The field /offerType must be promotional, offerCode or winBack.")
            }
            guard offerSignature == nil || kind == .promotional else {
                throw SandboxBody.invalid("The field /offerSignature is only for promotional offers.")
            }
            offer = Payment.OfferChoice(
                kind: kind, identifier: offerIdentifier,
                signature: offerSignature.map {
                    PromotionalOfferSignature(
                        keyIdentifier: $0.keyIdentifier, nonce: $0.nonce,
                        timestamp: Timestamp(millisecondsSince1970: $0.timestamp), signature: $0.signature)
                })
        }
        return Payment(
            productIdentifier: productId, quantity: quantity ?? 1, appAccountToken: appAccountToken, offer: offer)
    }

    func paymentOutcome() throws(Problem) -> PaymentOutcome {
        guard let outcome = PaymentOutcome(name: outcome ?? "purchased") else {
            throw SandboxBody.invalid(
                "The field /outcome has to be purchased, deferred, interrupted, cancelled, notAllowed, notAvailable, or an "
                    + "SKError by name.")
        }
        return outcome
    }
}
