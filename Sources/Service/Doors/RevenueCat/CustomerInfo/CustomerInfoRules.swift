import Catalog
import Entitlements
import Features
import HTTPSupport
import Proofs
import Synchronization
import Vocabulary

/// The rules that derive customer info from the ledger's facts.
extension CustomerInfo {
    package init(_ facts: CustomerInfoFacts) {
        self.init(facts: facts)
        let periods = CustomerPeriods(facts)
        subscriptions.reserveCapacity(periods.subscriptions.count)
        for (product, periods) in periods.subscriptions {
            subscriptions[product] = Self.subscription(product, periods, facts)
        }
        purchases.reserveCapacity(periods.purchases.count)
        // Parts of one list, because most products were bought once.
        var bought: [Purchase] = []
        bought.reserveCapacity(facts.transactions.count)
        for (product, periods) in periods.purchases {
            for period in periods { bought.append(Self.purchase(product, period, facts)) }
        }
        var rest = bought[...]
        for (product, periods) in periods.purchases {
            purchases[product] = rest.prefix(periods.count)
            rest = rest.dropFirst(periods.count)
        }
        for right in facts.rights {
            let promotion = PromotionalGrant(facts.grants, of: right)
            if let promotion { subscriptions[ByteKey(promotion.productIdentifier)] = promotion.subscription }
            entitlements[ByteKey(right.name)] = entitlement(right, periods, promotion)
        }
        let stores = subscriptions.values.filter { $0.isActive(at: facts.requestDate) }.compactMap(\.store)
        managementURL = stores.sorted { $0.rawValue < $1.rawValue }.lazy.compactMap(\.subscriptionAddress).first
    }

    private static func subscription(
        _ product: ByteKey,
        _ periods: ArraySlice<CustomerPeriod>,
        _ facts: CustomerInfoFacts
    ) -> Subscription? {
        guard let last = periods.max(by: { $1.lasts(longerThan: $0) }) else { return nil }
        let transaction = last.transaction
        let renewal = renewal(after: last, facts)
        // In the silent day after the end, Google Play has declined nothing yet, and still states that it is active.
        let isDeclined = renewal?.facts.bool(.isInBillingRetryPeriod)
        let graceEndsAt = transaction.graceEndsAt.flatMap { isDeclined == false && $0 > facts.requestDate ? nil : $0 }
        let isGraceRunning = graceEndsAt.map { $0 > facts.requestDate } ?? false
        // The store states a renewal again when the period ends, but the event happened before.
        let identifier = ByteKey(transaction.transactionIdentifier)
        let failedAt = facts.failedCharges[identifier] ?? renewal?.statedAt
        let hasBillingIssue =
            isDeclined == true
            || renewal?.facts.integer(.expirationIntent) == Int64(ExpirationIntent.billingError.rawValue)
        return Subscription(
            store: transaction.origin.store, isSandbox: last.isSandbox, purchaseDate: transaction.purchaseDate,
            // A subscription that has moved began as another purchase.
            originalPurchaseDate: last.terms.previous == nil
                ? last.originalPurchaseDate
                : periods.map(\.originalPurchaseDate).reduce(last.originalPurchaseDate, min),
            expiresDate: last.endsAt,
            periodType: last.terms.isPrepaid
                ? .prepaid : last.terms.isTrial ? .trial : last.terms.isIntroductory ? .intro : .normal,
            ownership: last.terms.isFamilyShared ? .familyShared : .purchased,
            // Nobody can turn off a prepaid plan, which never renews.
            unsubscribeDetectedAt: last.terms.isPrepaid
                ? nil : renewal?.turnedOffAt(inPeriodFrom: transaction.purchaseDate),
            billingIssuesDetectedAt: hasBillingIssue
                ? failedAt : isGraceRunning && last.nextPurchaseDate == nil ? transaction.expiresAt : nil,
            gracePeriodExpiresDate: graceEndsAt,
            autoResumeDate: renewal?.facts.date(.autoResumeTime),
            refundedAt: transaction.paidBack?.at,
            storeTransactionIdentifier: transaction.storeIdentifier,
            displayName: facts.products[product]?.displayName, price: transaction.paidPrice,
            planIdentifier: transaction.facts.text(.basePlanId))
    }

    /// The statement about the renewal of a period. Nil if the purchase has a later period, perhaps of another product.
    private static func renewal(after period: CustomerPeriod, _ facts: CustomerInfoFacts) -> StatedRenewal? {
        guard period.nextPurchaseDate == nil, let renewal = facts.renewals[period.transaction.originalKey],
            renewal.counts(
                forPeriodFrom: period.transaction.purchaseDate, of: period.transaction.origin.store)
        else { return nil }
        return renewal
    }

    private static func purchase(_ product: ByteKey, _ period: CustomerPeriod, _ facts: CustomerInfoFacts) -> Purchase {
        let transaction = period.transaction
        var name = SHA256State()
        name.update(transaction.app ?? "")
        name.update("/")
        name.update(transaction.origin.rawValue)
        name.update("/")
        name.update(transaction.transactionIdentifier)
        return Purchase(
            identifier: name.hexadecimal(ofFirst: 10),
            store: transaction.origin.store, isSandbox: period.isSandbox, purchaseDate: transaction.purchaseDate,
            originalPurchaseDate: period.originalPurchaseDate,
            storeTransactionIdentifier: transaction.storeIdentifier,
            displayName: facts.products[product]?.displayName, price: transaction.paidPrice)
    }

    /// The entitlement of a right; nil if neither a purchase nor a grant has ever given it.
    private func entitlement(
        _ right: RightSources,
        _ periods: CustomerPeriods,
        _ promotion: PromotionalGrant?
    ) -> Entitlement? {
        let products = right.products.filter { subscriptions[$0] != nil || periods.purchases[$0] != nil }.sorted()
        let identifiers = products.map(\.text) + [promotion?.productIdentifier].compactMap(\.self)
        let candidates = identifiers.flatMap { identifier in
            let subscription = subscriptions[ByteKey(identifier)].map { subscription in
                Entitlement(
                    productIdentifier: identifier, purchaseDate: subscription.purchaseDate,
                    expiresDate: subscription.expiresDate,
                    gracePeriodExpiresDate: subscription.gracePeriodExpiresDate,
                    planIdentifier: subscription.planIdentifier)
            }
            let purchases = (periods.purchases[ByteKey(identifier)] ?? []).map { period in
                Entitlement(
                    productIdentifier: identifier, purchaseDate: period.transaction.purchaseDate,
                    expiresDate: period.endsAt)
            }
            return [subscription].compactMap(\.self) + purchases
        }
        return candidates.max { $1.lasts(longerThan: $0) }
    }
}

package struct CustomerInfoFacts: Sendable {
    /// The first identifier of the customer (`original_app_user_id`).
    package var identifier: String
    package var requestDate: Timestamp
    package var firstSeen: Timestamp
    /// The version of the app that the customer first installed; nil if no proof has stated it.
    package var originalApplicationVersion: String?
    /// The date of the first installation; nil if no proof has stated it.
    package var originalPurchaseDate: Timestamp?
    package var transactions: [RedeemedTransaction] = []
    /// The last statement about the renewal of each subscription, by its original transaction.
    package var renewals: [TransactionKey: StatedRenewal] = [:]
    /// The first moments at which a charge failed, by the latest transaction of each subscription at that time.
    var failedCharges: [ByteKey: Timestamp] = [:]
    package var grants: [Grant] = []
    package var rights: [RightSources] = []
    /// The products of the catalog, by identifier.
    package var products: [ByteKey: CustomerProduct] = [:]
    package var attributes: [Attribute] = []

    package init(identifier: String, requestDate: Timestamp, firstSeen: Timestamp) {
        self.identifier = identifier
        self.requestDate = requestDate
        self.firstSeen = firstSeen
    }
}

struct CustomerPeriods: Sendable {
    /// A purchase, or a subscription with all its parts.
    private struct Subscription: Hashable {
        let app: String?
        let first: PurchaseOfUser
    }

    /// The periods of each product, in the order of their purchase dates.
    private(set) var subscriptions: [ByteKey: ArraySlice<CustomerPeriod>] = [:]
    /// The purchases that do not renew. Those that were taken back are absent.
    private(set) var purchases: [ByteKey: ArraySlice<CustomerPeriod>] = [:]

    init(_ facts: CustomerInfoFacts) {
        let all = Self.all(facts)
        purchases.reserveCapacity(all.count)
        var rest = all[...]
        while let product = rest.first.map({ ByteKey($0.transaction.productIdentifier) }) {
            let bought = rest.prefix { ByteKey($0.transaction.productIdentifier) == product }
            rest = rest[bought.endIndex...]
            let known = facts.products[product]?.type
            // Most products were bought once.
            let type =
                bought.count > 1
                ? bought.map(\.transaction).productType(inCatalog: known)
                : bought.first?.transaction.productType(inCatalog: known)
            if type == .autoRenewableSubscription {
                subscriptions[product] = bought
            } else {
                let kept = bought.contains(where: \.isRevoked) ? bought.filter { !$0.isRevoked }[...] : bought
                guard kept.count > 1 else {
                    if !kept.isEmpty { purchases[product] = kept }
                    continue
                }
                // A restored purchase is the one that it repeats.
                let once = Set(kept.map(\.transaction).withoutRepetitions.map(\.key))
                purchases[product] = kept.filter { once.contains($0.transaction.key) }[...]
            }
        }
    }

    /// The periods that count, in the order of their products and then of their purchase dates.
    private static func all(_ facts: CustomerInfoFacts) -> [CustomerPeriod] {
        let transactions = facts.transactions
        let parts = SubscriptionParts(of: transactions)
        // The place of the first transaction of each purchase, and the others. Most purchases are one transaction, which needs no list.
        var firsts: [Subscription: Int] = [:]
        firsts.reserveCapacity(transactions.count)
        var others: [Int: [RedeemedTransaction]] = [:]
        for (place, transaction) in transactions.enumerated() {
            let purchase = Subscription(app: transaction.app, first: parts[transaction.purchase])
            if let first = firsts[purchase] {
                others[first, default: []].append(transaction)
            } else {
                firsts[purchase] = place
            }
        }
        var periods: [CustomerPeriod] = []
        periods.reserveCapacity(transactions.count)
        for place in firsts.values {
            if let others = others[place] {
                periods += CustomerPeriod.periods(of: [transactions[place]] + others, at: facts.requestDate)
            } else {
                periods.append(CustomerPeriod(only: transactions[place]))
            }
        }
        periods.sort { left, right in
            let products = (
                ByteKey(left.transaction.productIdentifier), ByteKey(right.transaction.productIdentifier)
            )
            return products.0 == products.1
                ? left.transaction.isEarlier(than: right.transaction) : products.0 < products.1
        }
        return periods
    }
}

extension RedeemedTransaction {
    fileprivate var key: TransactionKey {
        TransactionKey(app: app ?? "", origin: origin, identifier: transactionIdentifier)
    }

    /// The identity of the purchase.
    var originalKey: TransactionKey {
        TransactionKey(app: app ?? "", origin: origin, identifier: originalTransactionIdentifier)
    }
}

/// The part of a product that customer info contains. The name is for people; nil without one.
package typealias CustomerProduct = (type: ProductType, displayName: String?)

/// The grant by the team that gives a right longest, as the protocol's promotional subscription.
struct PromotionalGrant: Sendable {
    /// The protocol's name of a grant: `rc_promo_premium_lifetime`.
    let productIdentifier: String
    let subscription: CustomerInfo.Subscription

    /// - Returns: Nil if no grant gives an item of the right.
    init?(_ grants: [Grant], of right: RightSources) {
        guard
            let grant = grants.filter({ right.items.contains($0.item) }).max(by: { Self.lasts($1, longerThan: $0) })
        else { return nil }
        productIdentifier = "rc_promo_\(right.name)_\(grant.duration)"
        subscription = CustomerInfo.Subscription(
            store: nil, isSandbox: false, purchaseDate: grant.grantedAt,
            originalPurchaseDate: grant.grantedAt, expiresDate: grant.coverageEndsAt)
    }

    private static func lasts(_ grant: Grant, longerThan other: Grant) -> Bool {
        grant.coverageEndsAt.isLaterEnd(than: other.coverageEndsAt)
            ?? ((grant.grantedAt, grant.sequence) > (other.grantedAt, other.sequence))
    }
}

/// Customer info, kept in memory while neither a write, a catalog nor time has changed it.
package final class KeptCustomerInfo: Sendable {
    /// The bytes of the answer about a transaction, about.
    private static let bytesOfTransaction = 500

    private let answers = UserAnswers<AttributedAnswer<RenderedCustomerInfo>>(upTo: 32 << 20) {
        $0.answer.size + $0.attributesSize
    }

    package init() {}

    /// Returns the customer info of a customer, and the customer's time.
    ///
    /// - Parameters:
    ///   - entitlements: The service, as far as the caller sees it.
    ///   - usesKept: False to make the info anew, after a write for the customer.
    ///   - rights: Returns the rights of the apps that the caller sees.
    package func info(
        about customer: CustomerIdentifier,
        by entitlements: EntitlementService,
        usesKept: Bool = true,
        _ rights: () -> [RightSources]
    ) async throws -> (info: RenderedCustomerInfo, moment: Timestamp) {
        let user = customer.user
        if usesKept, let (info, moment) = try await entitlements.answer(about: user, keptIn: answers) {
            return (info, moment)
        }
        let (known, moment) = try await entitlements.attributedHistory(of: user)
        let facts = CustomerInfoFacts(known, about: customer, at: moment, rights(), entitlements.apps)
        let (info, changesAt) = try await BlockingWork.process(facts.transactions.count * Self.bytesOfTransaction) {
            let info = CustomerInfo(facts)
            return (RenderedCustomerInfo(info), info.changesAt)
        }
        if usesKept, let known {
            entitlements.keep(info, madeFrom: known, at: moment, changingAt: changesAt, about: user, in: answers)
        }
        return (info, moment)
    }
}

extension CustomerInfoFacts {
    /// - Parameter known: Nil for a customer whom the ledger does not know.
    fileprivate init(
        _ known: AttributedHistory?,
        about customer: CustomerIdentifier,
        at moment: Timestamp,
        _ rights: [RightSources],
        _ apps: Apps
    ) {
        let identifier = known.flatMap { CustomerIdentifier($0.history.user)?.text } ?? customer.text
        self.init(identifier: identifier, requestDate: moment, firstSeen: known?.history.firstSeenAt ?? moment)
        self.rights = rights
        guard let known else { return }
        let history = known.history
        transactions = history.transactions
        renewals = history.renewals
        failedCharges = history.failedCharges
        grants = history.grants
        products.reserveCapacity(transactions.count)
        for transaction in transactions {
            let product = ByteKey(transaction.productIdentifier)
            guard products[product] == nil else { continue }
            products[product] = apps.product(product.text).map {
                (type: $0.type, displayName: $0.localizations.first?.displayName)
            }
        }
        // Anybody with the app can ask for a known customer's id. Addresses and the like are for the team.
        attributes = known.attributes.filter { !$0.isPersonal }
    }
}

/// The rights of apps, which are the same until a catalog changes.
package final class KeptRights: Sendable {
    private let kept = Mutex<(revisions: [Int64], rights: [ByteKey?: [RightSources]])>(([], [:]))

    package init() {}

    /// The rights of the apps that a caller sees, each with all products that give it, directly or through their items.
    package func rights(of entitlements: EntitlementService) -> [RightSources] {
        let (revisions, app) = (entitlements.apps.revisions, entitlements.limitingApp)
        let key = app.map { ByteKey($0) }
        if let known = kept.withLock({ $0.revisions == revisions ? $0.rights[key] : nil }) { return known }
        let catalogs = entitlements.catalogs
        let rights = catalogs.rights(in: app).map { right in
            let direct = right.products.map(\.text)
            let indirect = right.items.flatMap { catalogs.products(granting: $0, in: app) }
            return RightSources(name: right.name, products: direct + indirect, items: Array(right.items))
        }
        kept.withLock { kept in
            if kept.revisions != revisions { kept = (revisions, [:]) }
            kept.rights[key] = rights
        }
        return rights
    }
}
