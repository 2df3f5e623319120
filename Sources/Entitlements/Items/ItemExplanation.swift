import Catalog
import Ledger
import Proofs
import Vocabulary

/// The reason why a user owns an item or does not.
package struct ItemExplanation: Hashable, Sendable {
    package enum Cause: String, Sendable, CaseIterable {
        case owned
        case familyShared
        /// A seat that another customer has paid for.
        case assigned
        case gracePeriod
        case granted
        case ownedByEverybody
        case expired
        case renewalFailed
        /// The customer pauses the subscription.
        case paused
        case refunded
        case revokedByAppStore
        case revokedByTeam
        case upgraded
        /// The subscription has another product now, which does not grant the item.
        case productChanged
        /// Bought in an origin that is not accepted for this user, such as the sandbox.
        case originNotAccepted
        case grantEnded
        case grantTakenBack
        case refused
        case transferredToAnotherUser
        /// An import has recorded a purchase of the customer at another server. Nobody has sent its proof.
        case expected
        /// Nobody has redeemed some purchase of the product. It may be anybody's, so it is not named.
        case unclaimed
        case neverBought
        /// No product of the catalog grants the item.
        case notInCatalog
    }

    package let item: Item
    package let cause: Cause
    package private(set) var isOwned = false
    /// True if the ledger has nothing about the user, as for a misspelt name. What everybody owns is owned all the same.
    package private(set) var isUserUnknown = false
    /// The reason in one or two sentences.
    package let sentence: String
    /// The remedy; nil if none is needed.
    package private(set) var remedy: String?
    /// The time at which the cause took effect; nil if there is none.
    package private(set) var since: Timestamp?
    package private(set) var until: Timestamp?
    /// The transaction or the grant of the explanation.
    package private(set) var reference: String?
    package private(set) var origin: Origin?
    /// The owner of a purchase that was refused to this user.
    package private(set) var otherOwner: User?
    /// The product of the purchase. If the user has bought none, the products that grant the item, or none.
    package private(set) var products: [String] = []
    /// The team's reason for a revocation, the code of a refusal, or the reason for the end of a subscription; nil without one.
    package private(set) var reason: String?
    package private(set) var renews = false
    /// The way to the money of a refunded or revoked purchase; nil for another cause.
    package private(set) var refund: RefundWay?

    package enum RefundWay: Sendable {
        /// Only the store refunds.
        case store
        /// The team refunds the order in the store's console.
        case console
        /// The service asks the store.
        case service
    }
}

/// The rules of explanations. The source of an owned item comes first, then the purchase that ended last or has gone to another user,
/// grants, refusals, expected purchases, and unclaimed purchases.
extension ItemExplanation {
    private static func refundRemedy(_ status: PurchaseStatus, _ way: RefundWay) -> String {
        let store = status.origin.store
        let money =
            switch way {
            case .store: "Only \(store.company) refunds\(store.refundAddress.map { ", at \($0)" } ?? "")."
            case .console:
                "The order is refunded in \(store.orderConsole ?? store.name), or by \(store.company)\(store.refundAddress.map { " at \($0)" } ?? "")."
            case .service:
                "`till actions request refund \(status.transactionIdentifier)` has the order refunded, if \(store.company) has not."
            }
        return "\(money) The item comes back if \(store.company) reverses the refund, or the team grants it."
    }

    private static func paymentRemedy(_ store: PurchaseStore) -> String {
        "The customer must correct the payment method in \(store.nameInSentence)."
    }

    package init(of item: Item, by facts: ItemFacts) {
        self =
            Self.owned(item, facts) ?? Self.transferred(item, facts) ?? Self.ended(item, facts)
            ?? Self.grantEnded(item, facts)
            ?? Self.refused(item, facts) ?? Self.expected(item, facts) ?? Self.unclaimed(item, facts)
            ?? Self.neverBought(item, facts)
        isUserUnknown = facts.isUserUnknown
    }

    private static func owned(_ item: Item, _ facts: ItemFacts) -> ItemExplanation? {
        guard let owned = facts.owned else { return nil }
        switch owned.source {
        case .rule:
            return ItemExplanation(
                item: item, cause: .ownedByEverybody, isOwned: true,
                sentence: "The catalog gives the item to everybody.")
        case .grant(let identifier):
            return ItemExplanation(
                item: item, cause: .granted, isOwned: true,
                sentence: "The team has granted the item\(words(of: owned)).", since: owned.since,
                until: owned.until, reference: identifier)
        case .purchase(let purchase):
            let ownership = purchase.period.terms.ownership
            let cause: Cause =
                switch (owned.state, ownership) {
                case (.gracePeriod, _): .gracePeriod
                case (_, .familyShared): .familyShared
                case (_, .assigned): .assigned
                case (_, .purchased), (_, nil): .owned
                }
            let failure =
                cause == .gracePeriod ? "The renewal could not be charged, and the grace period is not over. " : ""
            return ItemExplanation(
                item: item, cause: cause, isOwned: true,
                sentence:
                    "\(failure)\(payment(ownership)) \(purchase.productIdentifier)\(words(of: owned))\(words(of: facts, purchase.origin.store)).",
                remedy: cause == .gracePeriod ? paymentRemedy(purchase.origin.store) : nil,
                since: owned.since, until: owned.until, reference: purchase.transactionIdentifier,
                origin: purchase.origin, products: [purchase.productIdentifier],
                reason: facts.ending?.rawValue, renews: owned.renews == true)
        }
    }

    /// The beginning of a sentence, which the name of the product follows.
    private static func payment(_ ownership: InAppOwnershipType?) -> String {
        switch ownership {
        case .familyShared: "A member of the family has bought"
        case .assigned: "Another customer has paid for the user's seat of"
        case .purchased, nil: "The user has bought"
        }
    }

    private static func words(of owned: OwnedItem) -> String {
        let until = owned.until.map { ", until \($0.rfc3339)" } ?? ""
        return until + (owned.renews == true ? ", and it renews" : "")
    }

    /// The reason for which an owned subscription does not renew.
    private static func words(of facts: ItemFacts, _ store: PurchaseStore) -> String {
        facts.ending.map { $0 == .other ? "" : ", and it does not renew because \($0.cancellation(at: store))" } ?? ""
    }

    /// The purchase that ended last. One that is active, but without effect here, explains more than one that has ended.
    private static func latest(_ purchases: [ItemFacts.Purchase]) -> ItemFacts.Purchase? {
        func end(_ purchase: ItemFacts.Purchase) -> Int64 {
            (purchase.status.until ?? purchase.status.since).millisecondsSince1970
        }
        return purchases.max { left, right in
            let (leftRuns, rightRuns) = (left.status.state.isOwned, right.status.state.isOwned)
            return leftRuns == rightRuns ? end(left) < end(right) : rightRuns
        }
    }

    private static func ended(_ item: Item, _ facts: ItemFacts) -> ItemExplanation? {
        guard let latest = latest(facts.purchases) else { return nil }
        let status = latest.status
        let (product, store) = (status.productIdentifier, status.origin.store)
        func explanation(
            _ cause: Cause, _ sentence: String, _ remedy: String, since: Timestamp?, until: Timestamp? = nil,
            reason: String? = nil
        ) -> ItemExplanation {
            ItemExplanation(
                item: item, cause: cause, sentence: sentence, remedy: remedy, since: since, until: until,
                reference: status.transactionIdentifier,
                origin: status.origin, products: [product], reason: reason)
        }
        if !latest.counts {
            return explanation(
                .originNotAccepted,
                "\(payment(status.ownership)) \(product) in \(status.origin.rawValue), which is not accepted for this user.",
                "For a tester, add the user to `sandbox-users`. For a customer, check the build of the app.",
                since: status.since)
        }
        if let revocation = latest.revocation {
            return explanation(
                .revokedByTeam, "The team has revoked \(product): \(revocation.reason)",
                "Reinstate the purchase with `PUT …/transactions/\(status.transactionIdentifier)/reinstatement`.",
                since: revocation.revokedAt, reason: revocation.reason)
        }
        func refunded(_ cause: Cause, _ sentence: String) -> ItemExplanation {
            let way: RefundWay = latest.isRefundable ? .service : store.orderConsole == nil ? .store : .console
            var explanation = explanation(
                cause, sentence, refundRemedy(status, way), since: latest.revocationDate)
            explanation.refund = way
            return explanation
        }
        if status.state.isOwned {
            return explanation(
                .productChanged, "The user has \(product) now, which does not grant the item.",
                "Map \(product) to the item, too, or grant the item.", since: status.since)
        }
        switch status.state {
        case .refunded:
            return refunded(.refunded, "\(store.company) has refunded \(product).")
        case .revoked:
            return refunded(.revokedByAppStore, "\(store.company) has revoked \(product).")
        case .upgraded:
            return explanation(
                .upgraded, "A subscription of a higher level has replaced \(product).",
                "Map the product of the higher level to the item, too.", since: status.until)
        case .billingRetry:
            return explanation(
                .renewalFailed, "The renewal of \(product) could not be charged. \(store.company) retries.",
                paymentRemedy(store), since: status.until)
        case .paused:
            let end = status.pausedUntil.map { " It resumes on \($0.rfc3339)." } ?? ""
            return explanation(
                .paused, "The customer has paused \(product).\(end)",
                "The customer can resume it at any time, in the subscriptions of \(store.nameInSentence).",
                since: status.until,
                until: status.pausedUntil)
        default:
            return explanation(
                .expired, "\(product) has expired\(words(of: status.expirationReason)).",
                "The customer can subscribe again, or the team can grant the item.", since: status.until,
                reason: status.expirationReason?.rawValue)
        }
    }

    private static func words(of reason: ExpirationReason?) -> String {
        reason.map { $0 == .other ? "" : " because \($0.sentence)" } ?? ""
    }

    private static func grantEnded(_ item: Item, _ facts: ItemFacts) -> ItemExplanation? {
        guard let grant = facts.grant else { return nil }
        if let revocation = grant.revocation {
            return ItemExplanation(
                item: item, cause: .grantTakenBack,
                sentence: "The team has revoked a grant of the item: \(revocation.reason)",
                remedy: "Grant the item again.", since: revocation.revokedAt, reference: grant.identifier,
                reason: revocation.reason)
        }
        return ItemExplanation(
            item: item, cause: .grantEnded, sentence: "A grant of the item has ended.", remedy: "Grant the item again.",
            since: grant.endsAt,
            reference: grant.identifier)
    }

    /// A purchase that has gone to another user after all others of the user had ended.
    private static func transferred(_ item: Item, _ facts: ItemFacts) -> ItemExplanation? {
        guard let entry = facts.event, entry.event == .transferredOut else { return nil }
        if let latest = latest(facts.purchases),
            latest.status.state.isOwned
                || (latest.status.until ?? latest.status.since) > entry.happenedAt
        {
            return nil
        }
        return ItemExplanation(
            item: item, cause: .transferredToAnotherUser,
            sentence: "The purchase of \(entry.subject) was transferred to another user.",
            remedy: "Ask the customer to log in as that user.", since: entry.happenedAt, reference: entry.reference,
            origin: entry.origin, otherOwner: facts.otherOwner, products: [entry.subject])
    }

    private static func refused(_ item: Item, _ facts: ItemFacts) -> ItemExplanation? {
        guard let entry = facts.event, entry.event == .refused else { return nil }
        let remedy = entry.reason.flatMap { RefusalRemedy(code: $0) }
        return ItemExplanation(
            item: item, cause: .refused,
            sentence: "A purchase of \(entry.subject) was refused. \(remedy?.cause ?? entry.reason ?? "")",
            remedy: remedy?.remedy, since: entry.happenedAt, reference: entry.reference, origin: entry.origin,
            otherOwner: facts.otherOwner, products: [entry.subject], reason: entry.reason)
    }

    private static func expected(_ item: Item, _ facts: ItemFacts) -> ItemExplanation? {
        guard let purchase = facts.expected else { return nil }
        let until = purchase.expiresAt.map { ", until \($0.rfc3339)" } ?? ""
        let hasEnded = facts.hasExpectedEnded
        return ItemExplanation(
            item: item, cause: .expected,
            sentence:
                "An import expects a purchase of \(purchase.productIdentifier) from \(purchase.purchaseDate.rfc3339)\(until). "
                + (hasEnded ? "The period is over." : "It grants nothing, because its proof has not arrived."),
            remedy: hasEnded
                ? "If the customer has renewed since, restore purchases in the app. Otherwise, the customer can subscribe again."
                : "Ask the customer to restore purchases in the app. If the service has an `app-store-key`, it also "
                    + "asks the App Store, once a day by default.",
            since: purchase.purchaseDate, until: purchase.expiresAt, reference: purchase.originalTransactionIdentifier,
            origin: purchase.origin, products: [purchase.productIdentifier], reason: hasEnded ? "ended" : nil)
    }

    private static func unclaimed(_ item: Item, _ facts: ItemFacts) -> ItemExplanation? {
        guard let purchase = facts.unclaimed else { return nil }
        // Nothing ties it to this user, so the explanation must not lead to it.
        return ItemExplanation(
            item: item, cause: .unclaimed,
            sentence:
                "The service knows no purchase of \(purchase.productIdentifier) by the user. A purchase of it is unclaimed, and may be anybody's.",
            remedy:
                "Restore purchases in the app. Otherwise ask for the order number of the store's receipt, and assign only the purchase that a search for it finds.",
            products: [purchase.productIdentifier])
    }

    private static func neverBought(_ item: Item, _ facts: ItemFacts) -> ItemExplanation {
        guard !facts.products.isEmpty else {
            return ItemExplanation(
                item: item, cause: .notInCatalog, sentence: "No product of the catalog grants the item.",
                remedy: "Add a product for the item to the catalog.")
        }
        return ItemExplanation(
            item: item, cause: .neverBought,
            // The store may have sold it without anybody having told the service.
            sentence: "The service knows no purchase of \(facts.products.joined(separator: " or ")) by the user.",
            remedy:
                "If the customer has a receipt of the store, restore purchases in the app, and look at the refusals.",
            products: facts.products)
    }
}

package struct ItemFacts: Sendable {
    /// A purchase of the user that grants, or has granted, the item.
    package struct Purchase: Sendable {
        package let status: PurchaseStatus
        /// True if the origin of the purchase is accepted for the user.
        package let counts: Bool
        /// The team's revocation; nil without one.
        package let revocation: Revocation?
        /// The date of the App Store's revocation; nil without one.
        package let revocationDate: Timestamp?
        /// The bundle identifier; nil for a transaction of an unknown app.
        let app: String?
        /// True if the service can ask the store for a refund.
        fileprivate(set) var isRefundable = false

        /// - Parameter transactions: The transactions of the purchase, whose last one states the revocations.
        package init(_ status: PurchaseStatus, of transactions: [RedeemedTransaction], counts: Bool) {
            let last = transactions.max { ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence) }
            (self.status, self.counts) = (status, counts)
            (revocation, revocationDate, app) = (last?.revocation, last?.revocationDate, last?.app)
        }
    }

    /// Nil if the user does not own the item.
    package var owned: OwnedItem?
    /// The reason for which the subscription that gives the item does not renew; nil if it renews, or without a stated reason.
    package var ending: ExpirationReason?
    /// True if the ledger has nothing about the user.
    package var isUserUnknown = false
    package var products: [String] = []
    package var purchases: [Purchase] = []
    package var grant: Grant?
    /// The newest refusal or transfer of a purchase of these products.
    package var event: AuditEntry?
    /// The owner of that purchase, if it is another user.
    package var otherOwner: User?
    /// The purchase of these products that an import expects for the user and that lasts longest.
    package var expected: ExpectedPurchase?
    /// True if that purchase has ended.
    package var hasExpectedEnded = false
    /// The newest purchase of these products that nobody has redeemed.
    package var unclaimed: Claim?

    package init() {}
}

extension EntitlementService {
    /// The reason why a user owns an item or does not.
    ///
    /// - Parameter actions: The actions at stores, which are among the remedies; nil for a service without them.
    package func explanation(
        of item: Item, for user: User, with actions: StoreActionService? = nil
    ) async throws -> ItemExplanation {
        let products = catalogs.products(granting: item, in: limitingApp)
        var facts = try await ledger.read {
            try $0.facts(about: item, of: user, products: products, from: try view(of: user, $0))
        }
        if let actions {
            for index in facts.purchases.indices {
                let (status, app) = (facts.purchases[index].status, facts.purchases[index].app)
                let offers = try await actions.offers(
                    about: status.transactionIdentifier, status.origin, in: app ?? "")
                facts.purchases[index].isRefundable = offers.contains { $0.kind == .refund }
            }
        }
        return ItemExplanation(of: item, by: facts)
    }
}

extension LedgerTransaction {
    /// The facts about a user and an item.
    ///
    /// - Parameter products: The identifiers of the products that grant the item.
    fileprivate func facts(
        about item: Item,
        of user: User,
        products: [String],
        from view: Viewpoint
    ) throws -> ItemFacts {
        let (apps, origins, moment) = (try apps, view.accepted.origins(for: user), view.moment)
        var facts = ItemFacts()
        facts.products = products
        facts.owned =
            OwnedItem.all(
                by: try coverage(of: user, with: item, from: view)?.coverage ?? [],
                owningBesides: view.free.filter { $0 == item },
                at: moment, type: view.type
            ).first
        if facts.owned == nil, !products.isEmpty {
            // No row has the number 0, which stands for an app of which the ledger knows no purchase.
            facts.unclaimed = try newestUnclaimed(
                ofProducts: products, of: origins, in: view.limit.map { apps[$0.app] ?? 0 }, apps)
        }
        if let owned = facts.owned {
            guard owned.renews == false, let purchase = owned.purchase, let number = try users.known(user) else {
                return facts
            }
            facts.ending = try purchases(granting: item, to: number, accepting: origins, from: view).map(\.status)
                .first {
                    $0.origin == purchase.origin
                        && $0.originalTransactionIdentifier.hasSameBytes(as: purchase.originalTransactionIdentifier)
                }?.ending
            return facts
        }
        guard let number = try users.known(user) else {
            facts.isUserUnknown = true
            return facts
        }
        facts.purchases = try purchases(granting: item, to: number, accepting: origins, from: view)
        if view.sees(item) { facts.grant = try lastGrant(of: item, to: number) }
        let known = Set(products.map { ByteKey($0) })
        let never = Timestamp(millisecondsSince1970: .max)
        facts.expected = try ExpectedTransactionRecords(database: database, apps: apps).purchases(of: number)
            .filter {
                view.includes(app: $0.app) && origins.contains($0.origin)
                    && known.contains(ByteKey($0.productIdentifier))
            }
            .max { ($0.expiresAt ?? never, $0.purchaseDate) < ($1.expiresAt ?? never, $1.purchaseDate) }
        facts.hasExpectedEnded = facts.expected?.expiresAt.map { $0 <= moment } ?? false
        guard let event = try lastLoss(of: number, ofProducts: products, in: view.limit?.app) else { return facts }
        facts.event = event
        let owner = try owners(of: [event], in: view.limit?.app)[event.reference]
        if owner != user { facts.otherOwner = owner }
        return facts
    }

    private func purchases(
        granting item: Item,
        to user: Int64,
        accepting origins: Set<Origin>,
        from view: Viewpoint
    ) throws -> [ItemFacts.Purchase] {
        let (apps, reading) = (try apps, ReadingRecords(database: database))
        let renewals = try reading.renewals(of: user)
        let keys = try database.rows(
            """
            SELECT DISTINCT original_transaction_id, origin, app FROM redeemed_transaction
            WHERE user_id = $1 AND collection = $2 AND number = $3
            """,
            [user, item.collection, item.number]
        ) { try apps.key(&$0) }
        let subscribed = keys.isEmpty ? [:] : try reading.subscribedTransactions(of: user).bySubscription
        return try keys.filter { view.includes(app: $0.app) }.compactMap { key in
            let own = try reading.transactions(ofPurchase: key, apps, of: user)
            // A subscription that has moved is explained by all its parts.
            let parts = subscribed.values.first { $0.contains { $0.purchase == own.first?.purchase } } ?? []
            let transactions = own + parts.filter { $0.purchase != own.first?.purchase }
            return PurchaseStatus(
                transactions, renewals.renewal(of: transactions), at: view.moment, type: view.type
            ).map {
                ItemFacts.Purchase($0, of: transactions, counts: origins.contains(key.origin))
            }
        }
    }

    /// The newest event of a user that refused or transferred a purchase of one of some products.
    ///
    /// - Parameter app: The bundle identifier of the purchase's app; nil for all apps.
    private func lastLoss(of user: Int64, ofProducts products: [String], in app: String?) throws -> AuditEntry? {
        try database.row(
            """
            SELECT \(AuditEntry.columns) FROM audit
            WHERE user_id = $1 AND event IN \([AuditEntry.Event.refused, .transferredOut].sqlList) AND \(AuditEntry.subject) \(database.isIn("$2"))
                \(app == nil ? "" : "AND app = (SELECT app FROM app WHERE bundle_id = $3)")
            ORDER BY happened_at DESC, number DESC LIMIT 1
            """,
            [user, database.list(products)] + (app.map { [$0] } ?? []), AuditEntry.init)
    }
}
