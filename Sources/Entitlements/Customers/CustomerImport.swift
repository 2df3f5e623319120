import Ledger
import Proofs
import Vocabulary

package struct CustomerImport: Hashable, Sendable {
    /// The number of customers who were unknown before.
    package var newCustomers = 0
    /// The number of ids that lead to their customers now.
    package var aliases = 0
    /// The number of ids that belong to other customers already, and stay theirs.
    package var otherAliases = 0
    package var newGrants = 0
    /// The number of grants of an earlier import, revoked ones included.
    package var knownGrants = 0
    /// The number of purchases that await a proof.
    package var expectedPurchases = 0
    /// The number of purchases that the customers own already.
    package var confirmedPurchases = 0
    /// The number of purchases that other customers own, or that an earlier import expects for other customers.
    package var otherPurchases = 0

    package init() {}

    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.newCustomers += right.newCustomers
        sum.aliases += right.aliases
        sum.otherAliases += right.otherAliases
        sum.newGrants += right.newGrants
        sum.knownGrants += right.knownGrants
        sum.expectedPurchases += right.expectedPurchases
        sum.confirmedPurchases += right.confirmedPurchases
        sum.otherPurchases += right.otherPurchases
        return sum
    }
}

/// An item that another purchase server gave to an imported customer without a purchase.
package struct PromisedItem: Hashable, Sendable {
    /// The identifier of the grant. It follows from the imported record, so that a second import changes nothing.
    package let identifier: String
    package let item: Item
    /// The reason for the audit log.
    package let reason: String
    /// Nil for no end.
    package let endsAt: Timestamp?

    package init(identifier: String, item: Item, reason: String, endsAt: Timestamp?) {
        self.identifier = identifier
        self.item = item
        self.reason = reason
        self.endsAt = endsAt
    }
}

/// A purchase that another purchase server has recorded for an imported customer. It is only expected: the customer owns nothing by it
/// before a proof.
package struct ExpectedPurchase: Hashable, Sendable {
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    package let originalTransactionIdentifier: String
    /// The product of the newest transaction, as the other server states it, like the dates.
    package let productIdentifier: String
    package let purchaseDate: Timestamp
    /// Nil for no end.
    package let expiresAt: Timestamp?

    package init(
        app: String,
        origin: Origin,
        originalTransactionIdentifier: String,
        productIdentifier: String,
        purchaseDate: Timestamp,
        expiresAt: Timestamp?
    ) {
        self.app = app
        self.origin = origin
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.purchaseDate = purchaseDate
        self.expiresAt = expiresAt
    }

    var key: TransactionKey {
        TransactionKey(app: app, origin: origin, identifier: originalTransactionIdentifier)
    }
}

extension LedgerTransaction {
    /// Imports a customer of another purchase server. A second import of the same customer changes nothing.
    ///
    /// An expected purchase grants nothing. The next proof of it, from a device or from the App Store, goes to the customer. It
    /// never takes a purchase that somebody owns. A later import may state a newer transaction of an expected purchase.
    ///
    /// - Parameters:
    ///   - user: The id that names the customer.
    ///   - aliases: The further ids of the customer.
    ///   - grants: The items that the team has decided to give.
    ///   - caller: The identifier of the API key, or of the process, for the audit log.
    /// - Throws: `LedgerError.userBlocked`; `LedgerError.userUnknown` for an account that was never opened, or was erased.
    package func add(
        imported user: User, aliases: [User] = [], grants: [PromisedItem] = [], purchases: [ExpectedPurchase] = [],
        by caller: String, at moment: Timestamp
    ) throws -> CustomerImport {
        var counts = CustomerImport()
        if try users.known(user) == nil { counts.newCustomers = 1 }
        for alias in aliases {
            if try addAlias(alias, of: user, by: AuditActor(caller: caller), at: moment) {
                counts.aliases += 1
            } else {
                counts.otherAliases += 1
            }
        }
        let number = try number(of: user, at: moment)
        for promise in grants {
            if try give(promise, to: number, by: caller, at: moment) {
                counts.newGrants += 1
            } else {
                counts.knownGrants += 1
            }
        }
        try expect(purchases, for: number, at: moment, &counts)
        return counts
    }

    /// Makes an id lead to a customer: by a log-in if the id is anonymous, or else if nobody uses it.
    ///
    /// - Returns: False if the id belongs to another customer, or if the customer has as many aliases as possible.
    private func addAlias(_ alias: User, of user: User, by actor: AuditActor, at moment: Timestamp) throws -> Bool {
        try requireName(of: alias)
        if alias.isAnonymousCustomer {
            // The team may move any number of records.
            _ = try logIn(alias, as: user, upTo: .max - 1, by: actor, at: moment)
        } else if try users.known(alias) == nil {
            _ = try addUnusedAlias(alias, of: user, by: actor, at: moment)
        }
        return try users.known(alias) == users.known(user)
    }

    /// - Returns: False if the user has the grant already.
    private func give(
        _ promise: PromisedItem,
        to user: Int64,
        by caller: String,
        at moment: Timestamp
    ) throws -> Bool {
        guard try grant(promise.identifier, of: user) == nil else { return false }
        try add(
            Grant(
                identifier: promise.identifier, item: promise.item, reason: promise.reason, grantedBy: caller,
                grantedAt: moment, endsAt: promise.endsAt),
            to: user)
        return true
    }

    private func expect(
        _ purchases: [ExpectedPurchase],
        for user: Int64,
        at moment: Timestamp,
        _ counts: inout CustomerImport
    ) throws {
        guard !purchases.isEmpty else { return }
        let records = ExpectedTransactionRecords(
            database: database, apps: try database.apps.numbers(of: Set(purchases.map(\.app))))
        let facts = try EntitlementRecords(database: database, apps: records.apps)
            .facts(aboutOwnersOf: Set(purchases.map(\.key)))
        var new: [ExpectedPurchase] = []
        var known: [ExpectedPurchase] = []
        for purchase in purchases {
            let key = purchase.key
            if let owner = facts.purchases[key]?.owner {
                if owner == user { counts.confirmedPurchases += 1 } else { counts.otherPurchases += 1 }
            } else if let expected = facts.expectedOwners[key], expected != user {
                counts.otherPurchases += 1
            } else {
                counts.expectedPurchases += 1
                if facts.expectedOwners[key] == nil { new.append(purchase) } else { known.append(purchase) }
            }
        }
        try records.insert(new, for: user, at: moment)
        guard !known.isEmpty else { return }
        // A later export may state another end of the same period.
        let recorded = Dictionary(
            try records.purchases(of: user).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        try records.update(
            known.filter { purchase in
                recorded[purchase.key].map { $0.purchaseDate <= purchase.purchaseDate && $0 != purchase } ?? false
            }, of: user)
    }

    /// The purchases that imports expect for a user, in the order of their original transactions.
    package func expectedPurchases(of user: User) throws -> [ExpectedPurchase] {
        guard let user = try users.known(user) else { return [] }
        return try ExpectedTransactionRecords(database: database, apps: try apps).purchases(of: user)
    }

    /// The number of purchases that imports expect, up to a limit. A confirmed purchase is not one of them.
    package func expectedPurchaseCount(upTo limit: Int) throws -> Int {
        try database.value(
            "SELECT count(*) AS count FROM (SELECT 1 FROM expected_transaction LIMIT $1) AS counted", [limit]) ?? 0
    }
}

/// The SQL of purchases that imports expect, inside the caller's transaction.
struct ExpectedTransactionRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    private static let userKey = ["user_id"] + Table.originalKey
    private static let facts = ["product_id", "purchase_date", "expires_at"]

    private static func facts(_ purchase: ExpectedPurchase) -> [any SQLConvertible] {
        [purchase.productIdentifier, purchase.purchaseDate, purchase.expiresAt]
    }

    /// Inserts expected purchases. A purchase that another process has inserted stays as it is.
    func insert(_ purchases: [ExpectedPurchase], for user: Int64, at moment: Timestamp) throws {
        let purchases = purchases.sorted { $0.key < $1.key }
        try database.insert(
            into: "expected_transaction", Table.originalKey + ["user_id"],
            purchases.map { $0.key.sqlValues(apps) + [user] }, isNew: false)
        try database.insert(
            into: "expected_purchase", Self.userKey + ["expected_at"] + Self.facts,
            purchases.map { [user] + $0.key.sqlValues(apps) + [moment] + Self.facts($0) }, isNew: false)
    }

    /// Replaces the facts about expected purchases of a user.
    func update(_ purchases: [ExpectedPurchase], of user: Int64) throws {
        try database.update(
            "expected_purchase", set: Self.facts, where: Self.userKey,
            purchases.sorted { $0.key < $1.key }.map { Self.facts($0) + [user] + $0.key.sqlValues(apps) })
    }

    /// Deletes expectations that proofs have confirmed.
    ///
    /// - Parameter owners: The users for whom the purchases were expected.
    func delete(_ owners: [TransactionKey: Int64]) throws {
        let expected = owners.sorted { $0.key < $1.key }
        try database.delete(
            from: "expected_transaction", where: Table.originalKey, expected.map { $0.key.sqlValues(apps) })
        try database.delete(
            from: "expected_purchase", where: Self.userKey, expected.map { [$0.value] + $0.key.sqlValues(apps) })
    }

    /// Makes the purchases that are expected for a user lead to another one. The rows of the user's own data do not move.
    func redirect(of former: Int64, to user: Int64) throws {
        try database.update(
            "expected_transaction", set: ["user_id"], where: Table.originalKey,
            try purchases(of: former).map { [user] + $0.key.sqlValues(apps) })
    }

    /// The expected purchases of a user, in the order of their original transactions.
    func purchases(of user: Int64) throws -> [ExpectedPurchase] {
        try database.rows(
            """
            SELECT app, origin, original_transaction_id, product_id, purchase_date, expires_at
            FROM expected_purchase WHERE user_id = $1
            ORDER BY original_transaction_id, origin, app
            """,
            [user]
        ) {
            ExpectedPurchase(
                app: try apps.bundleIdentifier(of: try $0.next()), origin: try $0.next(),
                originalTransactionIdentifier: try $0.next(), productIdentifier: try $0.next(),
                purchaseDate: try $0.next(), expiresAt: try $0.next())
        }
    }
}
