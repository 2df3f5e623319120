import Features
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

    /// The store, by the plugin's name.
    package enum Platform: String, CaseIterable, Sendable {
        case appStore = "ios-appstore"
        case googlePlay = "android-playstore"
    }

    package var productIdentifier: String
    package var platform = Platform.appStore
    /// The original transaction; of Google Play the token of the purchase.
    package var purchaseIdentifier: String
    /// The last transaction; of Google Play its order, if it has one.
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

extension CordovaPurchase {
    /// The plugin's form. A member without a value is absent. Dates are in milliseconds since 1970.
    package var json: JSONValue {
        func date(_ date: Timestamp?) -> JSONValue? { date.map { .integer($0.millisecondsSince1970) } }
        func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
        func ofSubscription(_ flag: Bool) -> JSONValue? { lastRenewalDate == nil ? nil : .bool(flag) }
        return .object([
            "id": text(productIdentifier),
            "platform": text(platform.rawValue),
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

/// The purchases of a customer, derived from the ledger's facts (`collection`).
package struct PurchaseCollection: Sendable {
    package var transactions: [RedeemedTransaction] = []
    /// The last statement about the renewal of each subscription, by its original transaction.
    package var renewals: [TransactionKey: StatedRenewal] = [:]
    /// The types of products by the catalog, for transactions without a stated type.
    package var types: [ByteKey: ProductType] = [:]
    /// The transactions of the proof in the request.
    package var presented: Set<ByteKey> = []

    package init() {}

    /// The purchases, the first one first: one for each product of an original transaction.
    package func purchases(at moment: Timestamp) -> [CordovaPurchase] {
        var purchases: [CordovaPurchase] = []
        for (key, transactions) in Dictionary(grouping: transactions, by: \.originalKey) {
            purchases += self.purchases(of: key, transactions.sorted { $0.isEarlier(than: $1) }, at: moment)
        }
        return purchases.sorted { left, right in
            left.purchaseDate != right.purchaseDate
                ? left.purchaseDate < right.purchaseDate
                : (ByteKey(left.transactionIdentifier), ByteKey(left.productIdentifier))
                    < (ByteKey(right.transactionIdentifier), ByteKey(right.productIdentifier))
        }
    }

    /// - Parameter transactions: The transactions of one purchase, the earliest first.
    private func purchases(
        of key: TransactionKey,
        _ transactions: [RedeemedTransaction],
        at moment: Timestamp
    ) -> [CordovaPurchase] {
        let known = transactions.last.flatMap { types[ByteKey($0.productIdentifier)] }
        let type = transactions.productType(inCatalog: known)
        let renewal = renewals[key]
        guard let status = PurchaseStatus(transactions, type, renewal, at: moment) else { return [] }
        var byProduct: [ByteKey: [CustomerPeriod]] = [:]
        for period in CustomerPeriod.periods(of: transactions, at: moment) {
            let transaction = period.transaction
            // The plugin shows a consumable as owned, so only the answer to its own proof has it.
            let isRestored = type != nil && type != .consumable
            guard isRestored || presented.contains(ByteKey(transaction.transactionIdentifier)) else { continue }
            byProduct[ByteKey(transaction.productIdentifier), default: []].append(period)
        }
        return byProduct.values.compactMap { periods in
            // Of two periods the later one counts, even if it ends sooner.
            guard let last = periods.last else { return nil }
            guard type == .autoRenewableSubscription else { return purchase(last, at: moment) }
            let isCurrent = last.transaction.productIdentifier.hasSameBytes(as: status.productIdentifier)
            return subscription(last, isCurrent ? status : nil, renewal, at: moment)
        }
    }

    private func purchase(_ last: CustomerPeriod, at moment: Timestamp) -> CordovaPurchase {
        let transaction = last.transaction
        return CordovaPurchase(
            productIdentifier: transaction.productIdentifier,
            platform: transaction.origin.isGooglePlay ? .googlePlay : .appStore,
            purchaseIdentifier: transaction.originalTransactionIdentifier,
            transactionIdentifier: transaction.storeIdentifier, purchaseDate: last.originalPurchaseDate,
            expiryDate: last.endsAt, isExpired: isExpired(last, at: moment),
            cancelationReason: Self.revocation(of: last),
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
        let counts = status != nil && renewal?.counts(forPeriodFrom: transaction.purchaseDate) ?? false
        let stated = counts ? renewal : nil
        let renews: Bool? = if let status { status.renews } else { false }
        var purchase = purchase(last, at: moment)
        purchase.lastRenewalDate = transaction.purchaseDate
        purchase.renewalIntent = renews.map { $0 ? .renew : .lapse }
        purchase.renewalIntentChangeDate = renews == false && stated?.willRenew == false ? stated?.statedAt : nil
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

    private static func revocation(of last: CustomerPeriod) -> CancelationReason? {
        let transaction = last.transaction
        if transaction.revocation != nil { return .developer }
        guard transaction.revocationDate != nil else { return last.terms.isUpgraded ? .systemReplaced : nil }
        if last.terms.isPaidByAnother { return .system }
        return transaction.revocationReason == RevocationReason.refundedDueToIssue.rawValue
            ? .customerTechnicalIssues : .customerOtherReason
    }

    private static func end(_ status: PurchaseStatus?, isExpired: Bool) -> CancelationReason? {
        guard isExpired else { return nil }
        guard let status else { return .systemReplaced }
        // The store still tries to renew it.
        guard status.state != .billingRetry else { return nil }
        return switch status.expirationReason {
        case .customerCancelled: .customer
        case .billingError: .systemBillingError
        case .customerDidNotConsentToPriceIncrease: .customerPriceIncrease
        case .productNotAvailable: .systemProductUnavailable
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
