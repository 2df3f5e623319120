import Ledger
import Proofs

/// A user with redeemed transactions, and one of them, by which the App Store finds the customer.
package struct Customer: Hashable, Sendable {
    /// The number of the user in the ledger. Newer users have greater numbers.
    package let number: Int64
    package let user: User
    package let transactionIdentifier: String
}

/// The counts of an import of customers.
package struct CustomerImport: Hashable, Sendable {
    /// The number of customers who were unknown before.
    package var newCustomers = 0
    /// The number of ids that lead to their customers now.
    package var aliases = 0
    /// The number of ids that belong to other customers already, and stay theirs.
    package var otherAliases = 0
    /// The number of new grants.
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

    /// The customers for whom imports expect purchases, one for each purchase, in the order of the original transactions.
    ///
    /// A transaction's identifier is unique in an environment of the App Store, so a page never ends between two origins or
    /// apps of one identifier there.
    ///
    /// - Parameters:
    ///   - last: The original transaction of the last customer of the previous page; empty for the first page.
    ///   - origins: The origins of the purchases.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    package func expectedCustomers(
        after last: String,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) throws -> [Customer] {
        guard let app = try number(ofApp: app) else { return [] }
        let expected = try database.rows(
            """
            SELECT user_id, original_transaction_id FROM expected_transaction
            WHERE original_transaction_id > $1 AND origin IN \(origins.sqlList) \(database.isIn(app.number))
            ORDER BY original_transaction_id LIMIT $2
            """,
            [last, limit]
        ) { (user: try $0.next() as Int64, original: try $0.next() as String) }
        let names = try users.names(of: Set(expected.map(\.user)))
        return expected.compactMap { number, original in
            names[number].map { Customer(number: number, user: $0, transactionIdentifier: original) }
        }
    }
}

extension Customer {
    /// The customer in the next columns: the number, the issuer and the name of the user, and the transaction.
    ///
    /// - Returns: Nil for a name that is no user's.
    init?(_ row: inout ResultRow) throws {
        let number: Int64 = try row.next()
        guard let user = User(issuer: try row.next(), name: try row.next()) else { return nil }
        self.init(number: number, user: user, transactionIdentifier: try row.next())
    }
}
