import Catalog
import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The facts about a change that its message in RevenueCat's format depends on.
package struct RevenueCatFacts: Sendable {
    /// The largest number of ids of a customer in a message. Anybody with an app can add ids to a customer.
    static let maximumIdentifiers = 10

    package var entry: AuditEntry
    /// The same in each attempt and for each endpoint.
    package var messageIdentifier: String
    /// The type of a message beside the event's own one; nil for the own one.
    package var companion: RevenueCatEvent.Kind?
    /// The ids of the customer, the present one first.
    package var customer: [String]
    /// True if the customer, or the present owner, has more ids.
    var hasMoreIdentifiers = false
    /// The transactions of the purchase, and of the parts of the subscription before it moved to the purchase, oldest first; empty for a
    /// change without a purchase.
    package var transactions: [RedeemedTransaction] = []
    /// The ids of the present owner of the purchase, the present one first; empty if the owner was erased.
    package var owner: [String] = []
    /// The last revocation of the transaction before the change; nil for none.
    package var revocation: AuditEntry?
    /// True if a pause ended the period before the change.
    package var isAfterPause = false
    /// The grant; nil for a change without one.
    package var grant: Grant?
    /// The type of the product in the catalog; nil for an unknown product.
    package var type: ProductType?
    /// The rights that the product or the item gives. RevenueCat calls them entitlements.
    package var rights: [String] = []

    package init(_ entry: AuditEntry, messageIdentifier: String, customer: [String]) {
        self.entry = entry
        self.messageIdentifier = messageIdentifier
        self.customer = customer
    }
}

/// The rules that derive the members of an event from the ledger's facts.
extension RevenueCatFacts {
    /// The transaction of the change; nil for a transfer, and for a change without a purchase.
    package var transaction: RedeemedTransaction? {
        transactions.first { $0.transactionIdentifier.hasSameBytes(as: entry.reference) }
    }

    /// The transactions of the purchase before and after that of the change.
    var neighbors: (earlier: ArraySlice<RedeemedTransaction>, later: ArraySlice<RedeemedTransaction>) {
        guard let transaction, let index = transactions.firstIndex(of: transaction) else { return ([], []) }
        return (transactions[..<index], transactions[(index + 1)...])
    }

    /// The identifier of the first transaction of the subscription; nil for a change without a transaction.
    var originalIdentifier: String? {
        guard let transaction, !transaction.origin.store.namesPurchaseByFirstTransaction else {
            return transaction?.originalTransactionIdentifier
        }
        let first = isRenewal && transaction.renewalOfOrder == nil ? (beginning ?? transaction) : transaction
        return first.firstOrder ?? first.storeIdentifier
    }

    /// True if the transaction continues a subscription.
    var isRenewal: Bool {
        transaction.map { $0.isRenewal(after: neighbors.earlier.last) } ?? false
    }

    /// The last transaction up to this one that continues none; nil if the ledger does not have it.
    private var beginning: RedeemedTransaction? {
        let known = neighbors.earlier + [transaction].compactMap(\.self)
        return known.indices.last { index in
            !known[index].isRenewal(after: index > known.startIndex ? known[index - 1] : nil)
        }.map { known[$0] }
    }

    /// The number of the subscription's periods up to this one, as far as the ledger knows them. At Google Play the order has it. Nil
    /// for another purchase.
    var renewalNumber: Int64? {
        guard isSubscription, let transaction else { return nil }
        if let renewal = transaction.renewalOfOrder { return renewal + 2 }
        let earlier = neighbors.earlier.drop { [beginning] in
            $0.isEarlier(than: beginning ?? $0)
        }
        let isAdded = terms?.isAdditional ?? false
        let periods = Int64(earlier.count { !PurchasePeriod.Terms($0.facts).isAdditional })
        return max(isAdded ? periods : periods + 1, 1)
    }

    var isSubscription: Bool { transactions.productType(inCatalog: type) == .autoRenewableSubscription }

    private var terms: PurchasePeriod.Terms? { transaction.map { PurchasePeriod.Terms($0.facts) } }

    /// True if a member of the customer's family has paid.
    var isFamilyShared: Bool { terms?.isFamilyShared ?? false }

    /// True if a member of the customer's family has paid, or the customer has a seat.
    private var isPaidByAnother: Bool { terms?.isPaidByAnother ?? false }

    /// True if the transaction repeats a purchase that does not renew, which has been told. The customer paid once.
    private var isRepetition: Bool {
        guard !isSubscription, let transaction, transaction.origin.store.namesPurchaseByFirstTransaction else {
            return false
        }
        return transactions.contains {
            $0.sequence < transaction.sequence && $0.productIdentifier.hasSameBytes(as: transaction.productIdentifier)
        }
    }

    /// True for a renewal that is the first payment after a free trial.
    var isTrialConversion: Bool {
        guard let transaction, terms?.isTrial == false, transaction.paidAmount != 0,
            let previous = neighbors.earlier.last(where: {
                PurchasePeriod.Terms($0.facts).isTrial || $0.paidAmount != 0
            })
        else { return false }
        return PurchasePeriod.Terms(previous.facts).isTrial
    }

    /// True for a revocation by the team: with its reason, or of a period that came after it.
    private var isRevokedByTeam: Bool {
        entry.event == .revoked
            && (entry.reason != nil || transaction.map { $0.revocation != nil && $0.revocationDate == nil } ?? false)
    }

    /// The reason for a cancellation or an expiration.
    var reason: RevenueCatEvent.Reason {
        switch entry.event {
        case .revoked where isRevokedByTeam: .developerInitiated
        // Apple refunds only the buyer, and withdraws family sharing and seats from members.
        case .revoked, .paymentRefunded: isPaidByAnother ? .unknown : .customerSupport
        // The App Store does not say who has turned renewal off. It is the customer.
        case .autoRenewDisabled: .init(ExpirationReason(canceler: entry.reason) ?? .customerCancelled)
        case .gracePeriodBegan, .renewalFailed: .billingError
        case .paused: .subscriptionPaused
        case .itemTakenBack: .developerInitiated
        default: .init(entry.reason.flatMap(ExpirationReason.init(rawValue:)))
        }
    }

    /// The amount in milliunits of the currency by which the change raises the sales: negative for a refund, and zero for a
    /// change without a payment.
    ///
    /// - Returns: Nil if the store has not stated the price.
    func amount(of kind: RevenueCatEvent.Kind) -> Int64? {
        if entry.event == .itemGiven || isPaidByAnother || isRepetition { return 0 }
        // "0 for free trials", whatever the store has stated.
        let price = terms?.isTrial == true ? 0 : transaction?.paidAmount
        switch kind {
        case .initialPurchase, .renewal, .nonRenewingPurchase: return price
        case .refundReversed: return revocation?.reason == nil ? revocation?.refund?.milliunits ?? price : 0
        case .cancellation where entry.event == .paymentRefunded: return entry.refund.map { -$0.milliunits }
        case .cancellation where entry.event == .revoked && !isRevokedByTeam: return refundedWithGoods.map { -$0 }
        case .cancellation, .productChange, .uncancellation, .billingIssue, .subscriptionPaused, .subscriptionExtended,
            .expiration, .transfer:
            return 0
        }
    }

    /// The money that was paid back with the goods; nil if it is unknown. One that comes later has an event of its own.
    private var refundedWithGoods: Int64? {
        if let refund = entry.refund { return refund.milliunits }
        guard let paidBack = transaction?.paidBack, paidBack.at <= entry.happenedAt else { return 0 }
        return paidBack.amount
    }

    /// The end of access after the change, grace periods included; nil for no end.
    var endsAt: Timestamp? {
        if entry.event == .itemTakenBack { return entry.happenedAt }
        if let grant { return grant.endsAt }
        guard let transaction else { return nil }
        switch entry.event {
        // The refund of a period leaves one that has come since, or was before it began. That of added seats leaves the others.
        case .revoked:
            let isAdditional = terms?.isAdditional == true
            let hasBegun = transaction.revocationDate.map { $0 >= transaction.purchaseDate } ?? true
            let left =
                neighbors.later.last { $0.revocationDate == nil && $0.revocation == nil }
                ?? neighbors.earlier.last {
                    (!hasBegun || isAdditional && $0.expiresAt == transaction.expiresAt)
                        && $0.revocationDate == nil && $0.revocation == nil
                }
            return left.flatMap { PurchasePeriod($0).endsAt }
                ?? (entry.reason == nil ? transaction.revocationDate : nil) ?? entry.happenedAt
        // The grace period has a member of its own.
        case .gracePeriodBegan where companion == nil: return transaction.expiresAt
        default: return PurchasePeriod(transaction).endsAt
        }
    }

    /// The end of a pause; nil without one, or if Google Play has not stated it.
    var resumesAt: Timestamp? { entry.event == .paused ? entry.reason.flatMap { Timestamp(rfc3339: $0) } : nil }

    /// The product of the change. A grant has the name of RevenueCat's promotional products, such as
    /// `rc_promo_premium_lifetime`, or that of its item if the item gives no right.
    var product: String {
        guard let grant, let right = rights.first else { return transaction?.revenueCatProduct ?? entry.subject }
        return "rc_promo_\(right)_\(grant.duration)"
    }
}

extension SubscribedPlan {
    /// The plan by RevenueCat's name: "For Google Play products set up in RevenueCat after February 2023, this identifier has the format
    /// <subscription_id>:<base_plan_id>" ("Event Types and Fields", `product_id`).
    ///
    /// A product whose identifier ends with its base plan is of the time before base plans, when each plan was a product. RevenueCat
    /// names those of that time by the subscription alone.
    var revenueCatName: String {
        guard let basePlan, !productIdentifier.hasSuffix(".\(basePlan)") else { return productIdentifier }
        return "\(productIdentifier):\(basePlan)"
    }
}

extension RevenueCatEvent.Reason {
    fileprivate init(_ reason: ExpirationReason?) {
        self =
            switch reason {
            case .customerCancelled: .unsubscribe
            case .billingError: .billingError
            case .customerDidNotConsentToPriceIncrease: .priceIncrease
            case .developerCancelled: .developerInitiated
            case .productNotAvailable, .replaced, .other, nil: .unknown
            }
    }
}

extension RedeemedTransaction {
    /// The product by RevenueCat's name.
    fileprivate var revenueCatProduct: String {
        SubscribedPlan(productIdentifier, basePlan: facts.text(.basePlanId)).revenueCatName
    }

    /// The number in the order of a renewal at Google Play, which is 0 for the first one; nil for another transaction.
    fileprivate var renewalOfOrder: Int64? {
        guard let order = facts.text(.orderId), let dots = order.firstRange(of: "..") else { return nil }
        return Int32(order[dots.upperBound...]).map(Int64.init)
    }

    /// True if the transaction continues a subscription.
    ///
    /// At Google Play, an immediate change of the product and a resubscription are an INITIAL_PURCHASE, and a deferred change is a RENEWAL
    /// ("Common Webhook Flows", "Product Changes" and "Resubscribe Flow"). At the App Store, all of one subscription group are a RENEWAL.
    ///
    /// - Parameter earlier: The transaction of the purchase before it; nil if the ledger has none.
    fileprivate func isRenewal(after earlier: RedeemedTransaction?) -> Bool {
        guard !origin.store.namesPurchaseByFirstTransaction else {
            return !originalTransactionIdentifier.hasSameBytes(as: transactionIdentifier)
                || facts[.previousOriginalTransactionId] != nil
        }
        guard let reason = facts.text(.transactionReason) else { return earlier != nil }
        return reason == TransactionReason.renewal.rawValue || facts.text(.replacementMode) == "DEFERRED"
            // A first period without an order was free.
            || earlier.map { $0.facts.text(.orderId) == nil } ?? false
    }
}

extension RedeemedTransaction {
    /// The identifier by which the store knows the transaction: at Google Play its order. A purchase with a promotional code has none.
    package var storeIdentifier: String { facts.text(.orderId) ?? transactionIdentifier }

    /// The order at Google Play of the subscription's first period; nil without an order.
    package var firstOrder: String? {
        // The order of a renewal is that of the purchase with a number: `GPA.3345-1111-2222-33333..2`.
        facts.text(.orderId).map { order in order.firstRange(of: "..").map { String(order[..<$0.lowerBound]) } ?? order
        }
    }
}

extension LedgerTransaction {
    /// The facts that a message in RevenueCat's format depends on.
    func revenueCatFacts(
        of delivery: WebhookDelivery,
        _ catalogs: Catalogs,
        at moment: Timestamp
    ) throws -> RevenueCatFacts {
        let entry = delivery.entry
        // A log-in may have renamed the user after the delivery was read.
        let user = try User(issuer: delivery.issuer, name: delivery.name).map { try presentName(of: $0) }
        let identifiers = try user.map { try self.identifiers(of: $0) }
        var facts = RevenueCatFacts(
            entry, messageIdentifier: delivery.messageIdentifier, customer: identifiers?.listed ?? [delivery.name])
        facts.companion = delivery.companion
        facts.hasMoreIdentifiers = identifiers?.hasMore ?? false
        switch entry.event {
        case .itemGiven, .itemTakenBack:
            facts.grant = try user.flatMap { try users.known($0) }.flatMap { try grant(entry.reference, of: $0) }
            facts.rights = catalogs.rights().filter { right in
                right.items.contains { $0.description.hasSameBytes(as: entry.subject) }
            }.map(\.name)
        default:
            let purchase = try purchase(of: entry, by: user, catalogs, at: moment)
            let own = purchase?.transactions ?? []
            let others = try purchase?.owner.map { try otherParts(of: own, of: $0) } ?? []
            facts.transactions = (own + others).sorted { $0.isEarlier(than: $1) }
            if let owner = try purchase?.owner.map({ try self.identifiers(of: $0) }) {
                facts.owner = owner.listed
                facts.hasMoreIdentifiers = facts.hasMoreIdentifiers || owner.hasMore
            }
            if entry.event == .granted {
                facts.revocation = try lastEntry(of: [.revoked], about: entry.reference, before: delivery)
                facts.isAfterPause =
                    try facts.neighbors.earlier.last.map { earlier in
                        try lastEntry(
                            of: [.paused, .renewalFailed, .expired], about: earlier.transactionIdentifier,
                            before: delivery)
                    }??.event == .paused
            }
            facts.type = catalogs.type(of: entry.subject)
            facts.rights = catalogs.rights(givenBy: entry.subject, in: purchase?.app)
        }
        return facts
    }

    /// The user to whom a name leads; the name itself if it leads to nobody.
    private func presentName(of user: User) throws -> User {
        guard let number = try users.known(user) else { return user }
        return try users.names(of: [number])[number] ?? user
    }

    /// The first ids of a customer, the present one first.
    private func identifiers(of user: User) throws -> (listed: [String], hasMore: Bool) {
        let limit = RevenueCatFacts.maximumIdentifiers
        let users = [user] + (try aliases(of: user, limit: limit))
        return (users.prefix(limit).map { CustomerIdentifier($0)?.text ?? $0.name }, users.count > limit)
    }

    /// The purchase of an entry. Several apps may use its identifier; the user's own purchase is preferred.
    private func purchase(
        of entry: AuditEntry,
        by user: User?,
        _ catalogs: Catalogs,
        at moment: Timestamp
    ) throws -> KnownPurchase? {
        let found = try purchases(ofTransaction: entry.reference, in: entry.app, at: moment) { catalogs.type(of: $0) }
            .filter { purchase in
                purchase.status.origin == entry.origin
                    && purchase.transactions.contains { $0.productIdentifier.hasSameBytes(as: entry.subject) }
            }
        return found.first { $0.owner == user } ?? found.first
    }
}

extension Catalogs {
    /// The rights that a product gives, directly or by its item.
    ///
    /// - Parameter app: The bundle identifier of the app that sold it; nil for all apps.
    fileprivate func rights(givenBy product: String, in app: String?) -> [String] {
        let item = (app.flatMap { self[$0] } ?? all.first { $0.product(product) != nil })?.benefit(of: product)?.item
        return rights(in: app).filter { right in
            right.products.contains(ByteKey(product)) || item.map { right.items.contains($0) } ?? false
        }.map(\.name)
    }
}
