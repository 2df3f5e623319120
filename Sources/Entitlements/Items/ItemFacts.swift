import Catalog
import Ledger
import Proofs
import Vocabulary

/// The facts about a user and an item that an explanation is derived from.
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

        /// - Parameter transactions: The transactions of the purchase, whose last one states the revocations.
        package init(_ status: PurchaseStatus, of transactions: [RedeemedTransaction], counts: Bool) {
            let last = transactions.max { ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence) }
            (self.status, self.counts) = (status, counts)
            (revocation, revocationDate) = (last?.revocation, last?.revocationDate)
        }
    }

    /// Nil if the user does not own the item.
    package var owned: OwnedItem?
    /// The reason for which the subscription that gives the item does not renew; nil if it renews, or without a stated reason.
    package var ending: ExpirationReason?
    /// True if the ledger has nothing about the user.
    package var isUserUnknown = false
    /// The identifiers of the products that grant the item.
    package var products: [String] = []
    package var purchases: [Purchase] = []
    /// The newest grant of the item by the team.
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
    package func explanation(of item: Item, for user: User) async throws -> ItemExplanation {
        let products = catalogs.products(granting: item, in: limitingApp)
        let facts = try await ledger.read {
            try $0.facts(about: item, of: user, products: products, from: try view(of: user, $0))
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
        return try keys.filter { view.includes(app: $0.app) }.compactMap { key in
            let transactions = try reading.transactions(ofPurchase: key, apps, of: user)
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
