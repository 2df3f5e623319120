import Ledger
import Proofs
import Vocabulary

/// The purchases and grants of a user, as far as the ledger knows them.
///
/// Without the old ones that have no effect on the user's rights, if there are very many.
package struct CustomerHistory: Sendable {
    /// The number of the newest transactions. Older ones are left out, except all periods of subscriptions, and the valid
    /// transaction of each other product that lasts longest.
    package static let newestTransactions = 10_000
    /// The number of the newest grants. Older ones are left out, except the valid grant of each item that lasts longest.
    package static let newestGrants = 1000

    /// The facts of its transactions. The others are not read.
    static let facts: [TransactionFact] =
        PurchasePeriod.Terms.facts + PaidBack.facts + [
            .originalPurchaseDate, .expiresDate, .subscriptionGroupIdentifier, .offerIdentifier, .currency, .basePlanId,
        ]

    package let number: Int64
    /// The user by the own name, not by an alias.
    package let user: User
    package let firstSeenAt: Timestamp
    /// The transactions of accepted origins, newest first, at least all with an effect on rights.
    package let transactions: [RedeemedTransaction]
    /// The last statement about the renewal of each subscription, by its original transaction.
    package let renewals: [TransactionKey: StatedRenewal]
    /// The first moments at which a charge failed, if one of these renewals has, by the latest transaction of each at that time.
    package let failedCharges: [ByteKey: Timestamp]
    /// The grants, newest first, at least all with an effect on rights.
    package let grants: [Grant]
    /// Nil if the history must not be kept.
    package let state: UserState?
}

extension EntitlementService {
    /// The purchases and grants of a user; nil for an unknown user.
    package func history(of user: User) async throws -> CustomerHistory? {
        try await ledger.read { try $0.history(of: user, from: try view(of: user, $0)) }
    }
}

extension LedgerTransaction {
    /// The purchases and grants of a user; nil for an unknown user.
    ///
    /// The number of a user's own name is remembered. The row that it leads to has the name, or the number is found again.
    ///
    /// - Parameters:
    ///   - transactions: The number of the newest transactions that are returned in any case.
    ///   - grants: The number of the newest grants that are returned in any case.
    package func history(
        of user: User,
        from view: Viewpoint,
        newestTransactions transactions: Int = CustomerHistory.newestTransactions,
        newestGrants grants: Int = CustomerHistory.newestGrants
    ) throws -> CustomerHistory? {
        if let remembered = numbers[user],
            let known = try history(remembered, of: user, from: view, transactions, grants), known.state != nil
        {
            return known
        }
        try database.prefetch([UserRecords.known(user), AppRecords.known])
        guard let number = try users.known(user) else { return nil }
        let history = try history(number, of: user, from: view, transactions, grants)
        if history?.state != nil { numbers.keep(number, for: user) }
        return history
    }

    private func history(
        _ number: Int64, of user: User, from view: Viewpoint, _ transactions: Int, _ grants: Int
    ) throws -> CustomerHistory? {
        let apps = try database.apps.names()
        let app = RequestedApp(view.limit?.app, among: apps)
        try database.prefetch(
            [Self.firstSeen(number), ReadingRecords.renewals(of: number)]
                + [app.map { ReadingRecords.newest(transactions, of: number, in: $0.number) }].compactMap(\.self))
        let known = try database.row(Self.firstSeen(number)) { row in
            (
                version: try row.next() as Int64, firstSeenAt: try row.next() as Timestamp,
                user: User(issuer: try row.next(), name: try row.next())
            )
        }
        guard let known else { return nil }
        let (origins, records) = (view.accepted.origins(for: user), ReadingRecords(database: database))
        var renewals: [TransactionKey: StatedRenewal] = [:]
        for purchase in try records.renewals(of: number)
        where origins.contains(purchase.origin) && view.includes(app: apps[purchase.app]) {
            let key = TransactionKey(
                app: apps[purchase.app] ?? "", origin: purchase.origin,
                identifier: purchase.originalTransactionIdentifier)
            renewals[key] = purchase.renewal
        }
        let mayHaveFailed = renewals.values.contains { renewal in
            renewal.facts.bool(.isInBillingRetryPeriod) == true || renewal.facts.integer(.expirationIntent) != nil
        }
        return CustomerHistory(
            number: number, user: known.user ?? user, firstSeenAt: known.firstSeenAt,
            transactions: try app.map {
                try records.transactions(of: number, in: $0.number, newest: transactions, apps)
                    .filter { origins.contains($0.origin) }
            } ?? [],
            renewals: renewals,
            failedCharges: mayHaveFailed ? try records.failedCharges(of: number, from: origins) : [:],
            grants: try self.grants(of: number, newest: grants).filter { view.sees($0.item) },
            state: known.user == user ? UserState(number: number, version: known.version) : nil)
    }

    private static func firstSeen(_ number: Int64) -> SQLQuery {
        SQLQuery(#"SELECT version, first_seen_at, issuer, name FROM "user" WHERE user_id = $1"#, [number])
    }

    /// The owners of purchases by their original transactions, each under the own name. A purchase without an owner is absent.
    package func owners(ofPurchases originals: Set<TransactionKey>) throws -> [TransactionKey: User] {
        let owners = try EntitlementRecords(database: database, apps: try apps).facts(aboutOwnersOf: originals)
            .purchases.mapValues(\.owner)
        let names = try users.names(of: Set(owners.values))
        return owners.compactMapValues { names[$0] }
    }

    package func stores(of user: User) throws -> Set<PurchaseStore> {
        guard let number = try users.known(among: [user])[user] else { return [] }
        let origins: [Origin] = try database.rows(
            "SELECT DISTINCT origin FROM redeemed_transaction WHERE user_id = $1", [number]
        ) { try $0.next() }
        return Set(origins.map(\.store))
    }

    /// True if a user has redeemed a transaction, also if it is revoked.
    package func hasPurchases(_ user: Int64) throws -> Bool {
        // A distributed database accepts no LIMIT in a subquery about each of several users.
        try database.hasRow("SELECT sequence FROM redeemed_transaction WHERE user_id = $1 LIMIT 1", [user])
    }
}
