import Proofs

/// The next step of a subscription, as far as its store has stated it. It is the same for both stores: every surface answers from it, and
/// none looks at what a store states.
package enum NextStep: Hashable, Sendable {
    /// Another period follows.
    case renews(NextPeriod)
    /// The running period is the last one, or it is over. Nil if nobody has stated why.
    case ends(ExpirationReason?)
    /// The renewal could not be charged. The user owns the item until the end of the grace period.
    case grace(until: Timestamp)
    /// The renewal could not be charged. The user owns nothing, and the store retries until this moment at the latest.
    case onHold(until: Timestamp)
    /// The customer pauses the subscription, and owns nothing until the store charges again. Nil if the store has not stated the end.
    case paused(until: Timestamp?)
    /// The customer may buy more time of a prepaid plan. Nobody can turn its renewal on or off.
    case prepaid
    /// The store has not stated whether the subscription renews.
    case unknown
}

/// The next period of a subscription, as its store has stated it.
package struct NextPeriod: Hashable, Sendable {
    package let productIdentifier: String
    /// The base plan at Google Play; nil for the App Store.
    package let basePlanIdentifier: String?
    /// The date of the charge; nil if it is not stated.
    package let beginsAt: Timestamp?
    /// The price of the period; nil if it is not stated.
    package let price: Price?
    /// True if the period does not follow unless the customer consents to its price.
    package let needsConsent: Bool

    init(after last: PurchasePeriod, _ facts: RenewalFacts?) {
        productIdentifier = facts?.text(.autoRenewProductId) ?? last.productIdentifier
        basePlanIdentifier = facts?.text(.autoRenewBasePlanId)
        beginsAt = facts?.date(.renewalDate)
        price = facts?.nextPrice
        needsConsent =
            facts?.integer(.priceIncreaseStatus) == Int64(PriceIncreaseStatus.customerHasNotResponded.rawValue)
    }
}

extension NextStep {
    /// - Parameters:
    ///   - last: The last period of the subscription.
    ///   - renewal: The last statement about its renewal; nil without one.
    init(after last: PurchasePeriod, _ renewal: StatedRenewal?, of store: PurchaseStore, at moment: Timestamp) {
        let isOver = last.expiresAt.map { $0 <= moment } ?? false
        let grace = last.graceEndsAt.flatMap { isOver && $0 > moment ? $0 : nil }
        if last.isRevokedByTeam || last.isRevoked {
            self = .ends(nil)
        } else if last.terms.isUpgraded {
            // The period that has replaced it is not known yet, and nobody is told of the end before.
            self = isOver ? .ends(.replaced) : .unknown
        } else if last.terms.isPrepaid {
            // "Prepaid plans don't auto-renew, so they can't be canceled" (lifecycle/subscriptions, "Handle lifecycle for prepaid plans").
            self = isOver ? .ends(nil) : .prepaid
        } else if let renewal, renewal.facts.isPaused {
            // The state is stated when the pause goes into effect. A pause that is planned leaves ACTIVE ("Paused subscriptions").
            self = .paused(until: renewal.facts.date(.autoResumeTime))
        } else if let grace, renewal?.isDeclined != false {
            self = .grace(until: grace)
        } else if isOver, grace == nil {
            let retryEnd = renewal.flatMap { $0.isDeclined == true ? $0.retryEnd(after: last, of: store) : nil }
            self =
                retryEnd.flatMap { $0 > moment ? .onHold(until: $0) : nil } ?? .ends(renewal?.reasonOfEnd(of: store))
        } else {
            // In the silent day after its end, Google Play still states ACTIVE: the renewal may be late, or its charge is retried.
            switch renewal?.willRenew {
            case true?: self = .renews(NextPeriod(after: last, renewal?.facts))
            case false?: self = .ends(renewal?.ending(of: store))
            case nil: self = .unknown
            }
        }
    }

    /// True if another period is to follow; nil if the store has not stated it.
    func renews(by renewal: StatedRenewal?) -> Bool? {
        switch self {
        case .renews: true
        case .ends, .prepaid: false
        case .grace, .onHold, .paused: renewal?.willRenew
        case .unknown: nil
        }
    }
}

/// The rules of statements about a renewal, in words that all stores have.
extension StatedRenewal {
    /// True if the store has stated that a charge was declined and is retried; nil if it has not stated it.
    fileprivate var isDeclined: Bool? { facts.bool(.isInBillingRetryPeriod) }

    /// The latest end of the attempts to charge.
    ///
    /// The App Store retries for up to 60 days after the period (`DID_FAIL_TO_RENEW`). An account hold at Google Play lasts as long, but it
    /// may follow a pause, so its end follows from the last statement (lifecycle/subscriptions, "Account hold").
    func retryEnd(after last: PurchasePeriod, of store: PurchaseStore) -> Timestamp? {
        guard let end = last.expiresAt?.adding(days: billingRetryDays) else { return nil }
        let isLater = !store.retriesWithinLimit && isDeclined == true
        return isLater ? max(end, statedAt.adding(days: Self.billingRetryDays)) : end
    }

    /// The reason for which no further period follows; nil if none is stated.
    package func ending(of store: PurchaseStore) -> ExpirationReason? {
        let stated = ExpirationReason(intent: facts.integer(.expirationIntent))
        if stated == .customerDidNotConsentToPriceIncrease { return stated }
        switch facts.canceler {
        case .user: return .customerCancelled
        case .system: return .billingError
        case .developer: return .developerCancelled
        case .replacement: return .replaced
        case nil: break
        }
        if let stated { return stated }
        // Only the customer cancels a commitment before its end (lifecycle/subscriptions, "Cancellations"), and only the customer turns
        // renewal off at the App Store (App Store Server API, `autoRenewStatus`).
        let isByCustomer = !store.statesCanceler || facts.bool(.autoRenewStatus) == true
        return isByCustomer && willRenew == false ? .customerCancelled : nil
    }

    /// The reason for an end that has come. The customer's choice does not end what could not be charged.
    fileprivate func reasonOfEnd(of store: PurchaseStore) -> ExpirationReason? {
        guard isDeclined == true, facts.canceler == nil else { return ending(of: store) }
        return ExpirationReason(intent: facts.integer(.expirationIntent))
    }

    /// This statement with what an earlier one has told of its reason: Google Play may leave out a price change that it has canceled the
    /// subscription for.
    func completed(by earlier: StatedRenewal?) -> StatedRenewal {
        guard facts.canceler == .system, facts[.priceChangeState] == nil, let before = earlier?.facts,
            before.integer(.priceIncreaseStatus) == Int64(PriceIncreaseStatus.customerHasNotResponded.rawValue)
                || before.canceler == .system
                    && ExpirationReason(intent: before.integer(.expirationIntent))
                        == .customerDidNotConsentToPriceIncrease,
            before.bool(.isInBillingRetryPeriod) != true
        else { return self }
        var facts = facts
        facts[.expirationIntent] = .integer(
            Int64(ExpirationIntent.customerDidNotConsentToPriceIncrease.rawValue))
        var renewal = StatedRenewal(statedAt: statedAt, proofDigest: proofDigest, facts: facts)
        renewal.statementNumber = statementNumber
        return renewal
    }
}

/// The reason for the end of a subscription: Apple's `expirationIntent`, or Google's `canceledStateContext`.
package enum ExpirationReason: String, Sendable, CaseIterable {
    case customerCancelled
    case billingError
    case customerDidNotConsentToPriceIncrease
    case productNotAvailable
    /// The developer has ended it at Google Play.
    case developerCancelled
    /// Another purchase has replaced it, which the service may not know.
    case replaced
    case other

    package var sentence: String {
        switch self {
        case .customerCancelled: "the customer turned renewal off"
        case .billingError: "the renewal could not be charged"
        case .customerDidNotConsentToPriceIncrease: "the customer did not consent to a price increase"
        case .productNotAvailable: "the product was not available at the renewal"
        case .developerCancelled: "the developer canceled it"
        case .replaced: "another purchase has replaced it"
        case .other: "another reason"
        }
    }

    /// The reason as a part of a sentence about a subscription that still runs. Google Play cancels for other reasons than a payment, too.
    package func cancellation(at store: PurchaseStore) -> String {
        self == .billingError ? "\(store.nameInSentence) canceled it" : sentence
    }

    /// True if the customer has decided that no further period follows.
    package var isByCustomer: Bool { self == .customerCancelled || self == .customerDidNotConsentToPriceIncrease }

    /// The canceler, in the words of the audit log; nil if nobody has canceled.
    package var canceler: String? {
        switch self {
        case .customerCancelled: Canceler.user.rawValue
        case .billingError: Canceler.system.rawValue
        case .developerCancelled: Canceler.developer.rawValue
        case .replaced: Canceler.replacement.rawValue
        case .customerDidNotConsentToPriceIncrease: "priceIncrease"
        case .productNotAvailable, .other: nil
        }
    }

    /// The reason of a word of the audit log.
    package init?(canceler: String?) {
        guard let canceler, let known = Self.allCases.first(where: { $0.canceler == canceler }) else { return nil }
        self = known
    }

    /// - Parameter intent: Apple's number; nil if the store has stated none.
    init?(intent: Int64?) {
        switch intent.flatMap({ Int(exactly: $0) }).flatMap(ExpirationIntent.init(rawValue:)) {
        case .customerCancelled: self = .customerCancelled
        case .billingError: self = .billingError
        case .customerDidNotConsentToPriceIncrease: self = .customerDidNotConsentToPriceIncrease
        case .productNotAvailable: self = .productNotAvailable
        case .other: self = .other
        case nil: return nil
        }
    }
}
