import Catalog
import Ledger
import Proofs

extension LedgerTransaction {
    /// The facts about a user and an item.
    ///
    /// - Parameters:
    ///   - origins: The origins that are valid for the user.
    ///   - free: The items that everybody owns.
    ///   - products: The identifiers of the products that grant the item.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    func facts(
        about item: Item,
        of user: User,
        accepting origins: Set<Origin>,
        owningBesides free: [Item],
        products: [String],
        seeing limit: AppLimit? = nil,
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) throws -> ItemFacts {
        var facts = ItemFacts()
        facts.products = products
        let coverage = try OwnedItemRecords(database: database)
            .coverage(of: user, with: item, accepting: origins, seeing: limit, until: moment)
        facts.owned =
            OwnedItem.all(by: coverage, owningBesides: free.filter { $0 == item }, at: moment, type: type).first
        let apps = try AppRecords(database: database).numbers(of: [])
        if facts.owned == nil, !products.isEmpty {
            facts.unclaimed = try UnclaimedRecords(database: database, apps: apps)
                .newest(ofProducts: products, of: origins, in: limit.map { apps[$0.app] ?? 0 })
        }
        guard facts.owned == nil, let number = try users.known(user) else { return facts }
        facts.purchases = try purchases(
            granting: item, to: number, apps, seeing: limit, accepting: origins, at: moment, type: type)
        if limit?.sees(item) ?? true {
            facts.grant = try GrantRecords(database: database).lastGrant(of: item, to: number)
        }
        let known = Set(products.map { ByteKey($0) })
        let never = Timestamp(millisecondsSince1970: .max)
        facts.expected = try ExpectedTransactionRecords(database: database, apps: apps).purchases(of: number)
            .filter { limit?.includes(app: $0.app) ?? true }
            .filter { origins.contains($0.origin) && known.contains(ByteKey($0.productIdentifier)) }
            .max { ($0.expiresAt ?? never, $0.purchaseDate) < ($1.expiresAt ?? never, $1.purchaseDate) }
        facts.hasExpectedEnded = facts.expected?.expiresAt.map { $0 <= moment } ?? false
        let loss = try StoryRecords(database: database)
            .lastLoss(of: number, ofProducts: products, in: limit?.app)
        guard let event = loss else { return facts }
        facts.event = event
        let owner = try SupportRecords(database: database, apps: apps)
            .owners(of: [event], in: limit?.app, users)[event.reference]
        if owner != user { facts.otherOwner = owner }
        return facts
    }

    private func purchases(
        granting item: Item,
        to user: Int64,
        _ apps: AppNumbers,
        seeing limit: AppLimit?,
        accepting origins: Set<Origin>,
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) throws -> [ItemFacts.Purchase] {
        let reading = ReadingRecords(database: database)
        let renewals = try reading.renewals(of: user)
        let rows = try database.rows(
            """
            SELECT DISTINCT original_transaction_id, redeemed.origin, redeemed.app
            FROM entitlement JOIN redeemed_transaction AS redeemed USING (user_id, sequence)
            WHERE entitlement.user_id = $1 AND collection = $2 AND number = $3
            """,
            [user, item.collection, item.number])
        return try rows.compactMap { row in
            let key = TransactionKey(
                app: try apps.bundleIdentifier(row), origin: try row["origin"],
                identifier: try row["original_transaction_id"])
            guard limit?.includes(app: key.app) ?? true else { return nil }
            let app: Int64 = try row["app"]
            let transactions = try reading.transactions(ofPurchase: key, app: app, of: user)
            let renewal = renewals.first {
                $0.app == app && $0.origin == key.origin
                    && $0.originalTransactionIdentifier.hasSameBytes(as: key.identifier)
            }
            let last = transactions.max { ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence) }
            return PurchaseStatus(transactions, renewal?.renewal, at: moment, type: type).map {
                ItemFacts.Purchase(
                    status: $0, counts: origins.contains(key.origin), revocation: last?.revocation,
                    revocationDate: last?.revocationDate)
            }
        }
    }
}

/// The received notifications of all apps.
extension LedgerTransaction {
    private func received() throws -> ReceivedNotificationRecords {
        ReceivedNotificationRecords(
            database: database, users: users, apps: try AppRecords(database: database).numbers(of: []))
    }

    /// The received notifications, newest first.
    ///
    /// - Parameter position: The position after which the page begins; nil for the first page.
    /// - Returns: At most `limit` notifications, and the position of the next page; nil for the last page. A page may have
    ///   fewer notifications, even none, although there is a next one.
    package func notifications(
        _ filter: ReceivedNotificationFilter,
        before position: ReceivedNotification.Position?,
        limit: Int
    ) throws -> (shown: [ReceivedNotification], next: ReceivedNotification.Position?) {
        try received().notifications(filter, before: position, limit: limit)
    }

    /// The notification of an identifier; nil if the origin has none.
    package func notification(_ identifier: String, of origin: Origin) throws -> ReceivedNotification? {
        try received().notifications(identifier).first { $0.notification.origin == origin }
    }
}
