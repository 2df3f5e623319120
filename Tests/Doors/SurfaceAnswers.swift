import Catalog
import Entitlements
import Features
import Proofs
import Service

/// The answers of every surface about the same purchases and grants at a moment.
struct SurfaceAnswers {
    struct Purchase {
        let original: TransactionKey
        let type: ProductType
        let transactions: [RedeemedTransaction]
        let renewal: StatedRenewal?
        let status: PurchaseStatus
    }

    let purchases: [Purchase]
    let moment: Timestamp
    private let facts: EntitlementFacts
    private let claims: [Claim]
    private let grants: [Grant]
    /// The items by purchases.
    private let bought: [OwnedItem]
    /// The items by purchases and grants.
    let items: [OwnedItem]
    private let coverage: [ItemCoverage]

    /// - Parameters:
    ///   - claims: The statements that led to the facts.
    ///   - grants: The grants as they are known at the moment.
    init(_ facts: EntitlementFacts, by claims: [Claim], _ grants: [Grant], at moment: Timestamp) {
        (self.facts, self.claims, self.grants, self.moment) = (facts, claims, grants, moment)
        var purchases: [Purchase] = []
        var sources: [ItemCoverage] = []
        for original in facts.purchases.keys.sorted() {
            let transactions = Self.transactions(facts, original)
            let renewal = facts.purchases[original]?.renewal
            guard let first = transactions.first, let type = GeneratedLife.types[first.productIdentifier],
                let status = PurchaseStatus(transactions, type, renewal, at: moment)
            else { continue }
            purchases.append(
                Purchase(
                    original: original, type: type, transactions: transactions, renewal: renewal, status: status))
            guard type != .consumable else { continue }
            sources += Self.sources(facts.coverage(of: original), transactions, renewal)
        }
        self.purchases = purchases
        let given = grants.filter { $0.revocation == nil }.map {
            ItemCoverage(
                item: $0.item, beginsAt: $0.grantedAt, endsAt: $0.endsAt, source: .grant(identifier: $0.identifier))
        }
        coverage = sources + given
        bought = OwnedItem.all(by: sources, owningBesides: [], at: moment) { GeneratedLife.types[$0] }
        items = OwnedItem.all(by: coverage, owningBesides: [], at: moment) { GeneratedLife.types[$0] }
    }

    static func transactions(_ facts: EntitlementFacts, _ original: TransactionKey) -> [RedeemedTransaction] {
        facts.transactions(of: original).enumerated().map { index, transaction in
            RedeemedTransaction(
                sequence: Int64(index + 1), origin: .appleProduction,
                transactionIdentifier: transaction.key.identifier, originalTransactionIdentifier: original.identifier,
                productIdentifier: transaction.transaction.productIdentifier,
                purchaseDate: transaction.transaction.purchaseDate,
                redeemedAt: transaction.transaction.purchaseDate,
                revocationDate: transaction.transaction.status.revocationDate,
                app: original.app, expiresAt: transaction.transaction.status.expiresAt,
                graceEndsAt: transaction.transaction.grace?.endsAt,
                facts: transaction.transaction.stated ?? TransactionFacts())
        }
    }

    private static func sources(
        _ coverage: [TransactionKey: Coverage],
        _ transactions: [RedeemedTransaction],
        _ renewal: StatedRenewal?
    ) -> [ItemCoverage] {
        transactions.compactMap { transaction in
            let key = TransactionKey(
                app: GeneratedLife.app, origin: transaction.origin, identifier: transaction.transactionIdentifier)
            guard let covered = coverage[key], !covered.isRevoked else { return nil }
            return ItemCoverage(
                item: GeneratedLife.item(of: transaction.productIdentifier), beginsAt: transaction.purchaseDate,
                coversFrom: covered.beginsAt, endsAt: covered.endsAt, source: .purchase(ItemPurchase(transaction)),
                renewal: renewal)
        }
    }

    // MARK: Texts

    private static func text(_ product: String, _ end: Timestamp?) -> String {
        "\(product) until \(end?.rfc3339 ?? "-")"
    }

    private static func texts(_ items: [OwnedItem]) -> [String] { items.map { text($0.item.collection, $0.until) } }

    /// Of each product, the purchase that ends last.
    private static func longest(_ ends: [(product: String, end: Timestamp?)]) -> [String] {
        Dictionary(grouping: ends, by: \.product).map { product, ends in
            let isEndless = ends.contains { $0.end == nil }
            return text(product, isEndless ? nil : ends.compactMap(\.end).max())
        }
    }

    private static func isSubscription(_ product: String) -> Bool {
        GeneratedLife.types[product] == .autoRenewableSubscription
    }

    private var subscribed: [OwnedItem] { bought.filter { Self.isSubscription($0.item.collection) } }

    // MARK: Comparison

    /// The surfaces that differ from the items.
    var contradictions: [String] {
        let statuses = Dictionary(grouping: purchases) { $0.type == .autoRenewableSubscription }
        func owned(_ isSubscription: Bool) -> [PurchaseStatus] {
            (statuses[isSubscription] ?? []).filter { $0.type != .consumable }.map(\.status).filter(\.state.isOwned)
        }
        let others = bought.filter { !Self.isSubscription($0.item.collection) }
        let comparisons: [(surface: String, says: [String], expected: [String])] = [
            (
                "subscriptions", owned(true).map { Self.text($0.productIdentifier, $0.until) },
                Self.texts(subscribed)
            ),
            (
                "states",
                owned(true).map { "\($0.productIdentifier) \($0.state) \($0.renews.map(\.description) ?? "-")" },
                subscribed.map { "\($0.item.collection) \($0.state) \($0.renews.map(\.description) ?? "-")" }
            ),
            ("purchases", Self.longest(owned(false).map { ($0.productIdentifier, $0.until) }), Self.texts(others)),
            ("rights", rights, Self.texts(items)),
            ("explanations", explanations, items.map(Self.explained)),
        ]
        let found = (comparisons + revenueCat + cordova).filter { $0.says.sorted() != $0.expected.sorted() }
        return found.map { "\($0.surface) \($0.says.sorted()) instead of \($0.expected.sorted())" } + verifications
    }

    /// A right of the name of each product.
    static let rights = GeneratedLife.types.keys.sorted().map {
        RightSources(name: $0, products: [], items: [GeneratedLife.item(of: $0)])
    }

    private var rights: [String] {
        UserRight.all(of: Self.rights, by: coverage, owningBesides: [], at: moment) { GeneratedLife.types[$0] }
            .filter(\.isActive).map { Self.text($0.name, $0.item.until) }
    }

    /// An owned item as its explanation has to name it.
    private static func explained(_ item: OwnedItem) -> String {
        let ownership = item.purchase?.period.terms.ownership
        let cause: ItemExplanation.Cause =
            switch (item.purchase == nil, item.state, ownership) {
            case (true, _, _): .granted
            case (_, .gracePeriod, _): .gracePeriod
            case (_, _, .familyShared): .familyShared
            case (_, _, .assigned): .assigned
            case (_, _, .purchased), (_, _, nil): .owned
            }
        return "\(text(item.item.collection, item.until)) \(cause)"
    }

    private var explanations: [String] {
        GeneratedLife.types.keys.compactMap { product in
            let item = GeneratedLife.item(of: product)
            var about = ItemFacts()
            about.products = [product]
            about.owned = items.first { $0.item == item }
            about.grant = grants.last { $0.item == item }
            about.purchases = purchases.filter { purchase in
                purchase.type != .consumable && purchase.transactions.contains { $0.productIdentifier == product }
            }.map {
                ItemFacts.Purchase($0.status, of: $0.transactions, counts: true)
            }
            let explanation = ItemExplanation(of: item, by: about)
            return explanation.isOwned ? "\(Self.text(product, explanation.until)) \(explanation.cause)" : nil
        }
    }

    /// What the doors know of the customer, without the events about the renewal.
    var customer: CustomerInfoFacts {
        var customer = CustomerInfoFacts(identifier: "alice", requestDate: moment, firstSeen: GeneratedLife.start)
        customer.transactions = purchases.flatMap(\.transactions)
        for purchase in purchases { customer.renewals[purchase.original] = purchase.renewal }
        customer.grants = grants
        for (product, type) in GeneratedLife.types {
            customer.products[ByteKey(product)] = (type: type, displayName: nil)
        }
        customer.rights = GeneratedLife.types.keys.filter { $0 != "seeds" }.sorted().map {
            RightSources(name: $0, products: [$0], items: [GeneratedLife.item(of: $0)])
        }
        return customer
    }

    /// The facts of the answer to the cordova plugin.
    var collection: PurchaseCollection {
        var collection = PurchaseCollection()
        collection.transactions = purchases.flatMap(\.transactions)
        for purchase in purchases { collection.renewals[purchase.original] = purchase.renewal }
        return collection
    }

    private var revenueCat: [(surface: String, says: [String], expected: [String])] {
        let info = CustomerInfo(customer)
        let subscriptions = info.subscriptions.filter { $0.value.store == .appStore && $0.value.isActive(at: moment) }
        let entitlements = info.entitlements.filter { $0.value.expiresDate.map { $0 > moment } ?? true }
        let kept = purchases.flatMap { purchase -> [String] in
            let products = purchase.transactions.filter { $0.revocationDate == nil }.map(\.productIdentifier)
            return switch purchase.type {
            case .autoRenewableSubscription: []
            // A restored purchase has another identifier, and is the same one.
            case .nonConsumable: Array(Set(products))
            default: products
            }
        }
        return [
            ("RevenueCat", entitlements.map { Self.text($0.key.text, $0.value.expiresDate) }, Self.texts(items)),
            (
                "RevenueCat's subscriptions", subscriptions.map { Self.text($0.key.text, $0.value.expiresDate) },
                Self.texts(subscribed)
            ),
            (
                "RevenueCat's purchases",
                info.purchases.flatMap { Array(repeating: $0.key.text, count: $0.value.count) },
                kept
            ),
            ("RevenueCat's page", info.managementURL == nil ? [] : ["active"], subscribed.isEmpty ? [] : ["active"]),
        ]
    }

    private var cordova: [(surface: String, says: [String], expected: [String])] {
        let owned = collection.purchases(at: moment).filter { !$0.isExpired }
        return [
            ("cordova", Self.longest(owned.map { ($0.productIdentifier, $0.expiryDate) }), Self.texts(bought)),
            (
                "cordova's retries", owned.filter(\.isBillingRetryPeriod).map(\.productIdentifier),
                bought.filter { $0.state == .gracePeriod }.map(\.item.collection)
            ),
        ]
    }

    /// The contradictions of the door that verifies one proof: a valid one is of an owned item, the last one of the transaction
    /// that gives an item is valid, and the app never gives a consumable again.
    private var verifications: [String] {
        claims.compactMap { claim in
            let purchase = purchases.first { $0.original == claim.originalKey }
            let state = IAPKitState(
                of: VerifiedPurchase(
                    claim, GeneratedLife.types[claim.productIdentifier], .production, by: facts, at: moment),
                at: moment)
            let owned = bought.first { $0.item.collection == claim.productIdentifier }
            let isLast = !claims.contains {
                $0.transactionIdentifier == claim.transactionIdentifier && $0.signedAt > claim.signedAt
            }
            let isRight =
                if GeneratedLife.types[claim.productIdentifier] == .consumable {
                    state == (purchase?.status.state == .refunded ? .canceled : .consumed)
                } else if isLast, owned?.purchase?.transactionIdentifier == claim.transactionIdentifier {
                    state.isValid
                } else {
                    // A renewal may be signed before its period begins.
                    !state.isValid || owned != nil || claim.purchaseDate > moment
                }
            guard !isRight else { return nil }
            return "iapkit \(state) of \(claim.productIdentifier) \(claim.transactionIdentifier), signed at "
                + "\(claim.signedAt.rfc3339), though items are \(Self.texts(bought))"
        }
    }

    // MARK: Figures

    /// The figures of the day that ends at this moment that differ from the items.
    var contradictionsOfFigures: [String] {
        let subscribed = subscribed
        // A renewal that is signed before its period begins counts on the day on which it begins.
        guard !subscribed.contains(where: { $0.purchase.map { $0.period.purchaseDate > moment } ?? false }) else {
            return []
        }
        let sums = UserFigures.sums(
            of: purchases.flatMap(\.transactions))
        func sum(_ metric: FigureMetric, until day: CalendarDay? = nil) -> Int64 {
            sums.amounts.filter { key, _ in key.metric == metric && day.map { key.day <= $0 } ?? true }
                .reduce(0) { $0 + $1.value }
        }
        let terms = subscribed.compactMap(\.purchase?.period.terms)
            .filter { !$0.isPaidByAnother }
        let (trials, paid) = (Int64(terms.count(where: \.isTrial)), Int64(terms.count { !$0.isTrial }))
        let today = CalendarDay(moment)
        let comparisons: [(figure: String, says: Int64, expected: Int64)] = [
            ("active subscriptions", sum(.subscriptions, until: today), paid),
            ("active trials", sum(.trials, until: today), trials),
            ("MRR", sum(.monthlyRevenue, until: today), paid * GeneratedLife.price),
            ("revenue", sum(.revenue), Int64(Set(claims.compactMap(Self.sale)).count) * GeneratedLife.price),
        ]
        return comparisons.filter { $0.says != $0.expected }
            .map { "\($0.figure) \($0.says) instead of \($0.expected)" }
    }

    /// The name of the payment that a claim is about; nil without one.
    private static func sale(_ claim: Claim) -> String? {
        let terms = PurchasePeriod.Terms(claim.facts ?? TransactionFacts())
        guard !terms.isPaidByAnother, !terms.isTrial else { return nil }
        return claim.facts?.text(.webOrderLineItemId) ?? claim.originalTransactionIdentifier
    }
}
