import Catalog
import Foundation
import HTTPSupport
import Proofs

extension SubscriptionOffer {
    /// The offer under which a payment for a subscription begins; nil for the standard price.
    ///
    /// - Parameters:
    /// - choice: The offer that the app requests; nil for the introductory offer, if the customer is eligible.
    /// - customer: New to the group, entitled by it, or entitled by it in the past.
    ///   - hadIntroductoryOffer: True if the customer used an introductory offer of the group. There is one for each
    ///     customer and group (Apple, "Implementing introductory offers").
    /// - Throws: `PaymentFailure` for an offer that does not exist or that the customer is not eligible for.
    package static func offer(
        _ choice: Payment.OfferChoice?,
        among offers: [SubscriptionOffer],
        customer: Eligibility,
        hadIntroductoryOffer: Bool
    ) throws -> SubscriptionOffer? {
        guard let choice else {
            // Without a request, only a new or returning customer gets an offer.
            let isEligible = customer != .existing && !hadIntroductoryOffer
            return isEligible ? offers.first { $0.kind == .introductory } : nil
        }
        guard choice.isAllowed else { return nil }
        let named = offers.first {
            $0.kind == choice.kind && ($0.kind == .introductory || $0.identifier == choice.identifier)
        }
        guard let offer = named else { throw PaymentFailure(error: .invalidOfferIdentifier) }
        let isEligible =
            switch choice.kind {
            case .promotional: customer != .new
            // The developer's server has decided about the introductory offer.
            case .introductory, .offerCode: true
            case .winBack: customer == .expired
            }
        guard isEligible, offer.eligibility?.contains(customer) ?? true else {
            throw PaymentFailure(error: .ineligibleForOffer)
        }
        return offer
    }
}

extension CustomerSubscription? {
    /// The customer's eligibility for offers, from their subscription in the group.
    package var eligibility: SubscriptionOffer.Eligibility {
        map { $0.isEntitled ? SubscriptionOffer.Eligibility.existing : .expired } ?? .new
    }
}

extension PromotionalOfferSignature {
    /// The lifetime of a signature, in milliseconds (Apple, "Generating a signature for promotional offers").
    private static let lifetime: UInt64 = 24 * 60 * 60 * 1000

    /// True if the signature's date differs from now by a day at most.
    package func isCurrent(at now: Timestamp) -> Bool {
        let (age, isOverflow) = now.millisecondsSince1970.subtractingReportingOverflow(timestamp.millisecondsSince1970)
        return !isOverflow && age.magnitude <= Self.lifetime
    }
}

/// The signature check of promotional offers, as in the App Store.
extension Books {
    /// - Throws: `PaymentFailure` if the signature is not the developer's, is for another payment, or is too old.
    func check(_ signature: PromotionalOfferSignature, of offer: Payment.OfferChoice, for payment: Payment) throws {
        let message = signature.message(
            bundleIdentifier: issuer.bundleIdentifier, productIdentifier: payment.productIdentifier,
            offerIdentifier: offer.identifier, applicationUsername: payment.appAccountToken?.uuidString ?? "")
        // The developer's server dates its signatures by the store's clock, not by the customer's.
        guard signature.isCurrent(at: now), let bytes = Base64.decode(signature.signature.utf8),
            try offerKeys(signature.keyIdentifier).contains(where: {
                $0.verifiesECDSA(bytes, over: Array(message.utf8))
            })
        else { throw PaymentFailure(error: .invalidSignature) }
    }

    /// The keys of the team, and the one of the StoreKit configuration.
    private func offerKeys(_ identifier: String) throws -> [PublicKey] {
        var keys = try teamKeys().filter { $0.keyIdentifier == identifier }
            .compactMap { PublicKey(pem: $0.publicKey) }
        if let pair = configuration.subscriptionOffersKeyPair, pair.identifier == identifier,
            let key = try? PrivateKey(pkcs8: pair.privateKey)
        {
            keys.append(key.publicKey)
        }
        return keys
    }
}
