import Catalog
import Foundation
import Proofs

/// A value in a payload that the store signs.
protocol StatementValue {
    var json: JSONValue { get }
}

extension String: StatementValue { var json: JSONValue { .string(self) } }
extension Bool: StatementValue { var json: JSONValue { .bool(self) } }
extension Int: StatementValue { var json: JSONValue { .integer(self) } }
extension Int64: StatementValue { var json: JSONValue { .integer(self) } }
extension Timestamp: StatementValue { var json: JSONValue { .integer(millisecondsSince1970) } }
extension UUID: StatementValue { var json: JSONValue { .string(lowercasedString) } }
extension Array: StatementValue where Element: StatementValue { var json: JSONValue { .array(map(\.json)) } }

/// The fields of a payload that a store writes. Absent values are omitted, never null.
struct StatementFields: ExpressibleByDictionaryLiteral, StatementValue {
    private var object = JSONObject()

    init(dictionaryLiteral fields: (String, (any StatementValue)?)...) {
        for (key, value) in fields {
            if let value { _ = object.add(key, value.json) }
        }
    }

    var json: JSONValue { .object(object) }
}

/// The statement about the renewal of a subscription (App Store Server API, `JWSRenewalInfoDecodedPayload`).
struct RenewalInfoStatement {
    let subscription: CustomerSubscription
    let terms: SubscriptionTerms

    var offer: SubscriptionOffer? { subscription.renewalTerms(terms)?.offer }

    /// True during billing retry. Nil if the subscription was charged.
    var isInBillingRetryPeriod: Bool? {
        switch subscription.state {
        case .inGracePeriod, .inBillingRetryPeriod: true
        case .expired(.billingError): false
        case .subscribed, .expired, .revoked: nil
        }
    }

    var gracePeriodExpiresDate: Timestamp? {
        if case .inGracePeriod(let until, _) = subscription.state { until } else { nil }
    }

    var priceIncreaseStatus: PriceIncreaseStatus? {
        subscription.priceIncrease.map {
            $0.isAccepted ? .customerConsentedOrWasNotifiedWithoutNeedingConsent : .customerHasNotResponded
        }
    }

    var autoRenewStatus: AutoRenewStatus { subscription.willAutoRenew ? .on : .off }

    /// The plan of the next billing period; nil if the subscription has ended, or if the catalog has no plans of the product.
    fileprivate var renewalBillingPlanType: BillingPlanType? {
        let plans = subscription.product(subscription.nextProductIdentifier, terms)?.subscription?.billingPlans ?? []
        let plan = subscription.nextBillingPlanType
        return hasEnded || plan == .upFront && plans.isEmpty ? nil : plan
    }

    /// The continuation of the commitment (App Store Server API, `RenewalCommitmentInfo`). One that has ended has no date and price.
    fileprivate var commitment: StatementFields? {
        guard let commitment = subscription.commitment else { return nil }
        let status: AutoRenewStatus = subscription.isAutoRenewing ? .on : .off
        return [
            "commitmentAutoRenewProductId": subscription.autoRenewProductIdentifier,
            "commitmentAutoRenewStatus": status.rawValue,
            "commitmentRenewalBillingPlanType": subscription.autoRenewBillingPlanType.rawValue,
            "commitmentRenewalDate": hasEnded ? nil : commitment.expiresDate,
            "commitmentRenewalPrice": hasEnded ? nil : subscription.commitmentRenewalPrice(terms)?.milliunits,
        ]
    }

    fileprivate var hasEnded: Bool { !subscription.isEntitled && isInBillingRetryPeriod != true }

    /// The identifiers of the offers for a customer whose subscription has ended; nil if there are none.
    fileprivate var winBackOffers: [String]? {
        guard hasEnded else { return nil }
        let offers = subscription.product(subscription.productIdentifier, terms)?.subscription?.offers ?? []
        let identifiers = offers.filter { $0.kind == .winBack }.compactMap(\.identifier)
        return identifiers.isEmpty ? nil : identifiers
    }
}

extension ProofIssuer {
    /// A signed transaction (App Store Server API, `JWSTransactionDecodedPayload`), in the compact form of JWS.
    func signedTransaction(_ transaction: Transaction, at moment: Timestamp) throws -> String {
        guard let storefront = Storefront(countryCode: transaction.storefrontCountryCode) else {
            throw StoreError.storefrontNotFound(transaction.storefrontCountryCode)
        }
        let (offer, revocation) = (transaction.offer, transaction.revocation)
        return try sign([
            "transactionId": transaction.transactionIdentifier,
            "originalTransactionId": transaction.originalTransactionIdentifier,
            "previousOriginalTransactionId": transaction.previousOriginalTransactionIdentifier,
            "webOrderLineItemId": transaction.webOrderLineItemIdentifier, "bundleId": bundleIdentifier,
            "productId": transaction.productIdentifier,
            "subscriptionGroupIdentifier": transaction.subscriptionGroupIdentifier,
            "purchaseDate": transaction.purchaseDate, "originalPurchaseDate": transaction.originalPurchaseDate,
            "expiresDate": transaction.expiresDate, "quantity": transaction.quantity,
            "type": transaction.type.rawValue, "appAccountToken": transaction.appAccountToken,
            "inAppOwnershipType": transaction.ownership.rawValue, "signedDate": moment,
            "revocationReason": revocation?.reason.rawValue, "revocationDate": revocation?.date,
            // "This property is not present for Advanced Commerce transactions" (StoreKit, `revocationType`).
            "revocationType": transaction.advancedCommerceCharge == nil ? revocation?.type.rawValue : nil,
            "revocationPercentage": revocation?.percentage,
            "isUpgraded": transaction.isUpgraded ? true : nil,
            "offerType": offer?.kind.rawValue, "offerIdentifier": offer?.identifier,
            "offerDiscountType": offer?.discountType.rawValue, "offerPeriod": offer?.period.description,
            "environment": environment.rawValue, "transactionReason": transaction.reason.rawValue,
            "storefront": storefront.countryCode, "storefrontId": storefront.identifier,
            "price": transaction.price.milliunits, "currency": transaction.price.currency,
            "appTransactionId": appTransactionIdentifier(of: transaction.account),
            "billingPlanType": transaction.billingPlanType?.rawValue,
            "commitmentInfo": transaction.commitment?.statement, "multiSeatInfo": transaction.seats?.statement,
            "additionalTransactionReason": transaction.additionalReason?.rawValue,
            "advancedCommerceInfo": transaction.advancedCommerceCharge?.statement(revokedAt: revocation?.date),
        ])
    }

    func signedRenewalInfo(_ subscription: CustomerSubscription, _ terms: SubscriptionTerms) throws -> String {
        let statement = RenewalInfoStatement(subscription: subscription, terms: terms)
        let offer = statement.offer
        // A family member pays nothing and has no seats.
        let renews = subscription.willAutoRenew && subscription.ownership != .familyShared
        let renewal = renews ? subscription.renewalTerms(terms) : nil
        let (price, seats) = (renewal?.price, renewal?.seats)
        return try sign([
            "expirationIntent": subscription.expirationIntent?.rawValue,
            "originalTransactionId": subscription.originalTransactionIdentifier,
            "autoRenewProductId": subscription.nextProductIdentifier, "productId": subscription.productIdentifier,
            "autoRenewStatus": statement.autoRenewStatus.rawValue,
            "isInBillingRetryPeriod": statement.isInBillingRetryPeriod,
            "priceIncreaseStatus": statement.priceIncreaseStatus?.rawValue,
            "gracePeriodExpiresDate": statement.gracePeriodExpiresDate, "offerType": offer?.kind.rawValue,
            "offerIdentifier": offer?.identifier, "offerDiscountType": offer?.discountType.rawValue,
            "offerPeriod": offer?.period.description, "signedDate": terms.now, "environment": environment.rawValue,
            "recentSubscriptionStartDate": subscription.startDate,
            "renewalDate": statement.hasEnded ? nil : subscription.expiresDate, "currency": price?.currency,
            "renewalPrice": price?.milliunits, "eligibleWinBackOfferIds": statement.winBackOffers,
            "appAccountToken": subscription.appAccountToken,
            "appTransactionId": appTransactionIdentifier(of: subscription.account),
            "renewalBillingPlanType": statement.renewalBillingPlanType?.rawValue,
            "commitmentInfo": statement.commitment,
            "renewalQuantity": seats.map { $0.priceTiers.reduce(0) { $0 + $1.quantity } },
            "multiSeatInfo": seats?.renewalStatement,
            "advancedCommerceInfo": subscription.advancedCommerceStatement,
        ])
    }

    /// The data of a notification about a transaction and its subscription (App Store Server Notifications V2, `data`). A test
    /// notification has neither.
    func notificationData(
        signedTransaction: String? = nil,
        signedRenewalInfo: String? = nil,
        status: Status? = nil,
        consumptionRequestReason: ConsumptionRequestReason? = nil
    ) -> StatementFields {
        [
            "appAppleId": appAppleIdentifier, "bundleId": bundleIdentifier, "bundleVersion": "1",
            "environment": environment.rawValue, "signedTransactionInfo": signedTransaction,
            "signedRenewalInfo": signedRenewalInfo, "status": status?.rawValue,
            "consumptionRequestReason": consumptionRequestReason?.rawValue,
        ]
    }
}

extension Commitment {
    fileprivate var statement: StatementFields {
        [
            "billingPeriodNumber": billingPeriodNumber, "commitmentExpiresDate": expiresDate,
            "commitmentPrice": price.milliunits, "totalBillingPeriods": BillingPlan.commitmentPeriods,
        ]
    }
}

extension SubscriptionOffer {
    package var isTrial: Bool { paymentMode == .freeTrial }
    var isIntroductoryPrice: Bool { kind == .introductory && !isTrial }
    var promotionalOfferIdentifier: String? { kind == .promotional ? identifier : nil }
    var offerCodeReferenceName: String? { kind == .offerCode ? identifier : nil }

    fileprivate var discountType: OfferDiscountType {
        switch paymentMode {
        case .freeTrial: .freeTrial
        case .payAsYouGo: .payAsYouGo
        case .payUpFront: .payUpFront
        }
    }
}
