import Entitlements
import Proofs

/// One purchase in an answer, by the plugin's name. The plugin computes from it what the customer owns.
package struct CordovaPurchase: Hashable, Sendable {
    /// The customer's decision about the next period.
    package enum RenewalIntent: String, CaseIterable, Sendable {
        case renew = "Renew"
        case lapse = "Lapse"
    }

    /// The customer's answer to a price increase.
    package enum PriceConsent: String, CaseIterable, Sendable {
        case notified = "Notified"
        case agreed = "Agreed"
    }

    package var productIdentifier: String
    package var store = PurchaseStore.appStore
    /// The original transaction. Of Google Play the first order, or the name of the token without one. The request's own purchase has its
    /// token, by which the plugin knows it.
    package var purchaseIdentifier: String
    /// The last transaction. Of Google Play its order, or the same as above without one.
    package var transactionIdentifier: String
    /// The date of the first transaction.
    package var purchaseDate: Timestamp
    /// The date of the last transaction of a subscription; nil for another purchase.
    package var lastRenewalDate: Timestamp?
    /// The end of access: of the paid period or its grace period, or the date of a refund. Nil for no end.
    package var expiryDate: Timestamp?
    package var isExpired: Bool
    /// Nil for a purchase that does not renew, or if the store has stated nothing.
    package var renewalIntent: RenewalIntent?
    /// The date of the statement that the subscription does not renew.
    package var renewalIntentChangeDate: Timestamp?
    package var cancelationReason: CancelationReason?
    /// True while the store retries a charge, also in the grace period.
    package var isBillingRetryPeriod = false
    package var isTrialPeriod = false
    package var isIntroPeriod = false
    /// The identifier of the offer; nil without one.
    var discountIdentifier: String?
    package var priceConsent: PriceConsent?
    package var quantity = 1
}

extension PurchaseStore {
    /// The store, by the plugin's name.
    fileprivate var platform: String {
        switch self {
        case .appStore: "ios-appstore"
        case .playStore: "android-playstore"
        default: rawValue
        }
    }
}

extension CordovaPurchase {
    /// The plugin's form. A member without a value is absent. Dates are in milliseconds since 1970.
    package var json: JSONValue {
        func date(_ date: Timestamp?) -> JSONValue? { date.map { .integer($0.millisecondsSince1970) } }
        func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
        func ofSubscription(_ flag: Bool) -> JSONValue? { lastRenewalDate == nil ? nil : .bool(flag) }
        return .object([
            "id": text(productIdentifier),
            "platform": text(store.platform),
            "purchaseId": text(purchaseIdentifier),
            "transactionId": text(transactionIdentifier),
            "purchaseDate": date(purchaseDate),
            "isExpired": .bool(isExpired),
            "quantity": .integer(quantity),
            "lastRenewalDate": date(lastRenewalDate),
            "expiryDate": date(expiryDate),
            "renewalIntent": text(renewalIntent?.rawValue),
            "renewalIntentChangeDate": date(renewalIntentChangeDate),
            "cancelationReason": text(cancelationReason?.rawValue),
            "discountId": text(discountIdentifier),
            "priceConsentStatus": text(priceConsent?.rawValue),
            "isBillingRetryPeriod": ofSubscription(isBillingRetryPeriod),
            "isTrialPeriod": ofSubscription(isTrialPeriod),
            "isIntroPeriod": ofSubscription(isIntroPeriod),
        ])
    }
}

/// The reason for the end of a purchase, by the plugin's name (`CancelationReason`).
package enum CancelationReason: String, CaseIterable, Sendable {
    /// The team has revoked the purchase.
    case developer = "Developer"
    /// The App Store has ended the family sharing.
    case system = "System"
    case systemReplaced = "System.Replaced"
    case systemProductUnavailable = "System.ProductUnavailable"
    case systemBillingError = "System.BillingError"
    case customer = "Customer"
    case customerTechnicalIssues = "Customer.TechnicalIssues"
    case customerPriceIncrease = "Customer.PriceIncrease"
    case customerOtherReason = "Customer.OtherReason"
    case unknown = "Unknown"
}

extension CordovaPurchase {
    /// True if this purchase decides about its product, and not another one: what is owned comes before what has ended, then what ends
    /// later, then what was bought later.
    fileprivate func counts(before other: CordovaPurchase) -> Bool {
        if isExpired != other.isExpired { return !isExpired }
        return expiryDate.isLaterEnd(than: other.expiryDate)
            ?? ((lastRenewalDate ?? purchaseDate, ByteKey(transactionIdentifier))
                > (other.lastRenewalDate ?? other.purchaseDate, ByteKey(other.transactionIdentifier)))
    }
}

/// The purchases of a customer, derived from the ledger's facts (`collection`).
package struct PurchaseCollection: Sendable {
    package var transactions: [RedeemedTransaction] = []
    /// The last statement about the renewal of each subscription, by its original transaction.
    package var renewals: [TransactionKey: StatedRenewal] = [:]
    /// The types of products by the catalog, for transactions without a stated type.
    package var types: [ByteKey: ProductType] = [:]
    /// The transactions of the proof in the request.
    package var presented: Set<ByteKey> = []
    /// The purchase token in the request; nil without one. The answer has no other.
    package var presentedToken: String?

    package init() {}

    /// The purchases, the first one first: one for each product, and each consumable of the proof.
    package func purchases(at moment: Timestamp) -> [CordovaPurchase] {
        // The plugin asks the purchase of a product with the latest date, of whatever store, and that one alone (`VerifiedReceipts.find`).
        // An ended one would hide one that is owned, and anybody can add one to a customer.
        var counting: [ByteKey: CordovaPurchase] = [:]
        var consumables: [CordovaPurchase] = []
        for (key, transactions) in Dictionary(grouping: transactions, by: \.originalKey) {
            let (found, isLasting) = self.purchases(of: key, transactions.sorted { $0.isEarlier(than: $1) }, at: moment)
            guard isLasting else {
                consumables += found
                continue
            }
            for purchase in found {
                let product = ByteKey(purchase.productIdentifier)
                if counting[product].map(purchase.counts(before:)) ?? true { counting[product] = purchase }
            }
        }
        return (counting.values + consumables).sorted { left, right in
            left.purchaseDate != right.purchaseDate
                ? left.purchaseDate < right.purchaseDate
                : (ByteKey(left.transactionIdentifier), ByteKey(left.productIdentifier))
                    < (ByteKey(right.transactionIdentifier), ByteKey(right.productIdentifier))
        }
    }

    /// - Parameter transactions: The transactions of one purchase, the earliest first.
    /// - Returns: A purchase for each product. They are lasting unless the product is a consumable, or of an unknown type.
    private func purchases(
        of key: TransactionKey,
        _ transactions: [RedeemedTransaction],
        at moment: Timestamp
    ) -> (purchases: [CordovaPurchase], isLasting: Bool) {
        let known = transactions.last.flatMap { types[ByteKey($0.productIdentifier)] }
        let type = transactions.productType(inCatalog: known)
        let renewal = renewals[key]
        // The plugin shows a consumable as owned, so only the answer to its own proof has it.
        let isLasting = type != nil && type != .consumable
        guard let status = PurchaseStatus(transactions, type, renewal, at: moment) else { return ([], isLasting) }
        var byProduct: [ByteKey: [CustomerPeriod]] = [:]
        for period in CustomerPeriod.periods(of: transactions, at: moment) {
            let transaction = period.transaction
            guard isLasting || presented.contains(ByteKey(transaction.transactionIdentifier)) else { continue }
            byProduct[ByteKey(transaction.productIdentifier), default: []].append(period)
        }
        let purchases = byProduct.values.compactMap { periods -> CordovaPurchase? in
            // Of two periods the later one counts, even if it ends sooner.
            guard let last = periods.last else { return nil }
            guard type == .autoRenewableSubscription else { return purchase(last, at: moment) }
            let isCurrent = last.transaction.productIdentifier.hasSameBytes(as: status.productIdentifier)
            return subscription(last, isCurrent ? status : nil, renewal, at: moment)
        }
        return (purchases, isLasting)
    }

    private func purchase(_ last: CustomerPeriod, at moment: Timestamp) -> CordovaPurchase {
        let transaction = last.transaction
        let isPresented = presented.contains(ByteKey(transaction.transactionIdentifier))
        // The plugin has the same identifiers for its own purchases (`GooglePlay.Transaction.refresh`).
        let token = isPresented ? presentedToken : nil
        return CordovaPurchase(
            productIdentifier: transaction.productIdentifier, store: transaction.origin.store,
            purchaseIdentifier: token ?? transaction.firstOrder ?? transaction.originalTransactionIdentifier,
            transactionIdentifier: transaction.facts.text(.orderId) ?? token ?? transaction.transactionIdentifier,
            purchaseDate: last.originalPurchaseDate,
            expiryDate: last.endsAt, isExpired: isExpired(last, at: moment),
            cancelationReason: Self.revocation(of: last, isExpired: isExpired(last, at: moment)),
            quantity: transaction.quantity)
    }

    /// - Parameter status: The status of the subscription; nil for a product that another one has replaced.
    private func subscription(
        _ last: CustomerPeriod,
        _ status: PurchaseStatus?,
        _ renewal: StatedRenewal?,
        at moment: Timestamp
    ) -> CordovaPurchase {
        let transaction = last.transaction
        let counts =
            status != nil
            && renewal?.counts(forPeriodFrom: transaction.purchaseDate, of: transaction.origin.store) ?? false
        let stated = counts ? renewal : nil
        let renews: Bool? = if let status { status.renews } else { false }
        var purchase = purchase(last, at: moment)
        purchase.lastRenewalDate = transaction.purchaseDate
        purchase.renewalIntent = renews.map { $0 ? .renew : .lapse }
        purchase.renewalIntentChangeDate =
            renews == false ? stated?.turnedOffAt(inPeriodFrom: transaction.purchaseDate) : nil
        purchase.cancelationReason = purchase.cancelationReason ?? Self.end(status, isExpired: purchase.isExpired)
        purchase.isBillingRetryPeriod = status?.state == .gracePeriod || status?.state == .billingRetry
        purchase.isTrialPeriod = last.terms.isTrial
        purchase.isIntroPeriod = last.terms.isIntroductory && !last.terms.isTrial
        purchase.discountIdentifier = transaction.facts.text(.offerIdentifier)
        purchase.priceConsent = Self.priceConsent(stated)
        return purchase
    }

    private func isExpired(_ last: CustomerPeriod, at moment: Timestamp) -> Bool {
        last.isRevoked || last.endsAt.map { $0 <= moment } ?? false
    }

    private static func revocation(of last: CustomerPeriod, isExpired: Bool) -> CancelationReason? {
        let transaction = last.transaction
        if transaction.revocation != nil { return .developer }
        guard transaction.revocationDate != nil else {
            return isExpired && last.terms.isUpgraded ? .systemReplaced : nil
        }
        if last.terms.isPaidByAnother { return .system }
        return transaction.revocationReason == RevocationReason.refundedDueToIssue.rawValue
            ? .customerTechnicalIssues : .customerOtherReason
    }

    private static func end(_ status: PurchaseStatus?, isExpired: Bool) -> CancelationReason? {
        guard isExpired else { return nil }
        guard let status else { return .systemReplaced }
        // The store still tries to renew it.
        guard !status.state.mayReturn else { return nil }
        return switch status.expirationReason {
        case .customerCancelled: .customer
        case .billingError: .systemBillingError
        case .customerDidNotConsentToPriceIncrease: .customerPriceIncrease
        case .productNotAvailable: .systemProductUnavailable
        case .developerCancelled: .developer
        case .replaced: .systemReplaced
        case .other, nil: .unknown
        }
    }

    private static func priceConsent(_ renewal: StatedRenewal?) -> CordovaPurchase.PriceConsent? {
        switch renewal?.facts.integer(.priceIncreaseStatus).flatMap({ Int(exactly: $0) })
            .flatMap(PriceIncreaseStatus.init(rawValue:))
        {
        case .customerHasNotResponded: .notified
        case .customerConsentedOrWasNotifiedWithoutNeedingConsent: .agreed
        case nil: nil
        }
    }
}
