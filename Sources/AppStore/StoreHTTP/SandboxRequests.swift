import Catalog
import Foundation
import HTTPSupport
import Proofs

struct PurchaseRequest: SandboxRequest {
    static let schema = Schema.object("A request to buy a product.", named: "PurchaseRequest").fields([
        "account": .account,
        "productId": .text("The product."),
        "quantity": .integer("The number of units, or of seats of a subscription; 1 by default.", in: 1...10).optional,
        "appAccountToken": .uuid("The account token of the app.").optional,
        "billingPlanType": .one(
            of: BillingPlanType.allCases.map(\.name), "The billing plan of a subscription; `upFront` by default."
        ).optional,
        "offerType": .one(of: ["promotional", "offerCode", "winBack"], "The type of the named offer.").optional,
        "offerIdentifier": .text("The offer; an offer code by its reference name.").optional,
        "offerSignature": Schema.object(
            "The signature of a promotional offer, with the names of StoreKit's `SKPaymentDiscount`."
        ).fields([
            "keyIdentifier": .text("The key."),
            "nonce": .uuid("A UUID of this request."),
            "timestamp": Int64.schema.described("Milliseconds since 1970."),
            "signature": .text("Base64."),
        ]).optional,
        "promotionalOfferJWS": .text(
            "The JWS of the named promotional offer (StoreKit's `promotionalOffer(_:compactJWS:)`)."
        ).optional,
        "introductoryOfferEligibilityJWS": .text(
            "The JWS that allows or denies the introductory offer (StoreKit's `introductoryOfferEligibility(compactJWS:)`)."
        ).optional,
        "advancedCommerceJWS": .text(
            "The JWS of an Advanced Commerce request, with which a generic product is bought (StoreKit's `AdvancedCommerceProduct`)."
        ).optional,
        "outcome": .text(
            "`purchased` by default; `deferred`, `interrupted`, `cancelled`, `notAllowed`, `notAvailable`, or an SKError by name."
        ).optional,
    ]).closed

    let account: String
    let productId: String
    var quantity: Int?
    var appAccountToken: UUID?
    var billingPlanType: String?
    var offerType: String?
    var offerIdentifier: String?
    var offerSignature: PromotionalOfferSignature?
    var promotionalOfferJWS: String?
    var introductoryOfferEligibilityJWS: String?
    var advancedCommerceJWS: String?
    var outcome: String?

    /// The signed request of the purchase.
    ///
    /// - Throws: `Problem` for a purchase with several signatures, or for a request that does not fit the offer.
    func signedPurchase() throws(Problem) -> SignedPurchaseRequest? {
        if let advancedCommerceJWS {
            guard offerIdentifier == nil, promotionalOfferJWS == nil, introductoryOfferEligibilityJWS == nil,
                quantity ?? 1 == 1
            else { throw JSONBody.invalid("The field /advancedCommerceJWS needs the quantity 1, without an offer.") }
            return SignedPurchaseRequest(kind: .advancedCommerce, compact: advancedCommerceJWS)
        }
        if let introductoryOfferEligibilityJWS {
            guard offerIdentifier == nil, promotionalOfferJWS == nil else {
                throw JSONBody.invalid("The field /introductoryOfferEligibilityJWS cannot be with another offer.")
            }
            return SignedPurchaseRequest(kind: .introductoryOfferEligibility, compact: introductoryOfferEligibilityJWS)
        }
        guard let promotionalOfferJWS else { return nil }
        guard offerIdentifier != nil, offerType == "promotional", offerSignature == nil else {
            throw JSONBody.invalid(
                "The field /promotionalOfferJWS needs /offerIdentifier and the /offerType promotional, without /offerSignature."
            )
        }
        return SignedPurchaseRequest(kind: .promotionalOffer, compact: promotionalOfferJWS)
    }

    func payment() throws(Problem) -> Payment {
        var offer: Payment.OfferChoice?
        if let offerIdentifier {
            guard let kind = offerType.flatMap(SubscriptionOffer.Kind.init(name:)), kind != .introductory else {
                throw JSONBody.invalid("The field /offerType must be promotional, offerCode or winBack.")
            }
            guard offerSignature == nil || kind == .promotional else {
                throw JSONBody.invalid("The field /offerSignature is only for promotional offers.")
            }
            offer = Payment.OfferChoice(kind: kind, identifier: offerIdentifier, signature: offerSignature)
        }
        let plan = billingPlanType.flatMap { BillingPlanType(name: $0) }
        guard billingPlanType == nil || plan != nil else {
            throw JSONBody.invalid("The field /billingPlanType must be upFront or monthly.")
        }
        return Payment(
            productIdentifier: productId, quantity: quantity ?? 1, appAccountToken: appAccountToken,
            billingPlanType: plan, offer: offer)
    }

    func paymentOutcome() throws(Problem) -> PaymentOutcome {
        guard let outcome = PaymentOutcome(name: outcome ?? "purchased") else {
            throw JSONBody.invalid(
                "The field /outcome has to be purchased, deferred, interrupted, cancelled, notAllowed, notAvailable, or an "
                    + "SKError by name.")
        }
        return outcome
    }
}

/// A request to refund a sale, or to request its refund.
struct RefundRequest: SandboxRequest {
    static let schema = Schema.object("A reason.", named: "RefundRequest").fields([
        "reason": .text(
            "For a refund, `issue` or `other`; for a request, one of Apple's reasons, such as `OTHER`."
        ).optional,
        "seats": .integer(
            "The number of refunded seats; the whole transaction without it. Only for a refund.", in: Seats.quantities
        ).optional,
        "isProrated": .flag(
            "True to refund only what is left: of the period, or of what your server has told as consumed. Only for a refund."
        ).optional,
        "revocationPercentage": .integer(
            "The part to refund, in thousandths of a percent. Only for a refund.", in: 1...Transaction.Revocation.whole
        ).optional,
    ]).closed

    var reason: String?
    var seats: Int?
    var isProrated: Bool?
    var revocationPercentage: Int?

    /// The parameters of a refund.
    func refund() throws(Problem) -> TransactionAction.Parameters {
        guard seats == nil || isProrated != true && revocationPercentage == nil else {
            throw JSONBody.invalid("The field /seats cannot be with /isProrated or /revocationPercentage.")
        }
        var values = TransactionAction.Parameters()
        (values.refundReason, values.refundedSeats) = (try revocationReason(), seats)
        (values.isRefundProrated, values.refundedPercentage) = (isProrated ?? false, revocationPercentage)
        return values
    }

    func requestReason() throws(Problem) -> ConsumptionRequestReason {
        guard let reason = ConsumptionRequestReason(rawValue: reason ?? "OTHER") else {
            throw JSONBody.invalid(
                "The field /reason has to be one of "
                    + ConsumptionRequestReason.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return reason
    }

    private func revocationReason() throws(Problem) -> RevocationReason {
        switch reason {
        case nil, "other": .refundedForOtherReason
        case "issue": .refundedDueToIssue
        default: throw JSONBody.invalid("The field /reason must be issue or other.")
        }
    }
}

/// A request to share a sale with a family member, or to let one join the family.
struct SharingRequest: SandboxRequest {
    static let schema = Schema.object("A family member.", named: "SharingRequest").fields(["account": .account]).closed

    let account: String
}

struct PriceIncreaseRequest: SandboxRequest {
    static let schema = Schema.object("A higher price.", named: "PriceIncreaseRequest").fields([
        "price": Int64.schema.described("Milliunits of the currency."),
        "needsConsent": .flag("True by default.").optional,
    ]).closed

    let price: Int64
    var needsConsent: Bool?
}

/// A request to change the number of seats of a subscription.
struct SeatsRequest: SandboxRequest {
    static let schema = Schema.object("A number of seats.", named: "SeatsRequest").fields([
        "quantity": .integer("The number of seats after the change.", in: Seats.quantities)
    ]).closed

    let quantity: Int
}

/// A request to accept Apple's invitation to a seat.
struct InvitationRequest: SandboxRequest {
    static let schema = Schema.object("A member.", named: "InvitationRequest").fields(["account": .account]).closed

    let account: String
}

/// A request for the retention message of a subscription.
struct RetentionRequest: SandboxRequest {
    static let schema = Schema.object("A customer who may cancel.", named: "RetentionRequest").fields([
        "locale": .text("The customer's locale, such as `en-US`; that of the settings by default.").optional
    ]).closed

    var locale: String?
}

/// A request to judge what a developer's server has signed for StoreKit.
struct SignedRequestRequest: SandboxRequest {
    static let schema = Schema.object("A signed request of an app to StoreKit.", named: "SignedRequest").fields([
        "signedRequest": .text("The JWS in compact form.")
    ]).closed

    let signedRequest: String
}

struct NotificationRequest: SandboxRequest {
    static let schema = Schema.object("A notification on demand.", named: "NotificationRequest").fields([
        "notificationType": .one(of: NotificationOnDemand.types.map(\.rawValue), "Apple's name of the type."),
        "subtype": .one(
            of: NotificationOnDemand.allCases.compactMap(\.subtype?.rawValue),
            "The subtype; only for an external purchase token."
        ).optional,
        "transactionId": .text(
            "Any transaction of the subscription; only for `METADATA_UPDATE`, `MIGRATION` and `PRICE_CHANGE`."
        ).optional,
        "account": Schema.account.described("The App Store account; only for `RESCIND_CONSENT`.").optional,
    ]).closed

    let notificationType: String
    var subtype: String?
    var transactionId: String?
    var account: String?
}

struct ExternalTokenRequest: SandboxRequest {
    static let schema = Schema.object("A token of a purchase outside the App Store.", named: "ExternalTokenRequest")
        .fields([
            "tokenType": .one(
                of: ExternalPurchaseToken.Kind.allCases.map(\.rawValue),
                "The type of a custom link token; absent for another token."
            ).optional
        ]).closed

    var tokenType: String?

    func kind() throws(Problem) -> ExternalPurchaseToken.Kind? {
        guard let tokenType else { return nil }
        guard let kind = ExternalPurchaseToken.Kind(rawValue: tokenType) else {
            let names = ExternalPurchaseToken.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw JSONBody.invalid("The field /tokenType must be one of \(names).")
        }
        return kind
    }
}
