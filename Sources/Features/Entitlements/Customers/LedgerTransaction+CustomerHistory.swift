import Catalog
import Ledger
import Proofs

extension LedgerTransaction {
    /// The purchases and grants of a user; nil for an unknown user.
    ///
    /// - Parameters:
    ///   - origins: The origins that are valid for the user.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    ///   - transactions: The number of the newest transactions that are returned in any case.
    ///   - grants: The number of the newest grants that are returned in any case.
    package func history(
        of user: User,
        accepting origins: Set<Origin>,
        seeing limit: AppLimit? = nil,
        newestTransactions transactions: Int = CustomerHistory.newestTransactions,
        newestGrants grants: Int = CustomerHistory.newestGrants
    ) throws -> CustomerHistory? {
        guard let number = try users.known(user), let known = try knownUser(user) else { return nil }
        let records = ReadingRecords(database: database)
        let apps = try AppRecords(database: database).names()
        var renewals: [TransactionKey: StatedRenewal] = [:]
        for purchase in try records.renewals(of: number)
        where origins.contains(purchase.origin) && limit?.includes(app: apps[purchase.app]) ?? true {
            let key = TransactionKey(
                app: apps[purchase.app] ?? "", origin: purchase.origin,
                identifier: purchase.originalTransactionIdentifier)
            renewals[key] = purchase.renewal
        }
        let hasEvents = renewals.values.contains { renewal in
            renewal.willRenew == false || renewal.facts.bool(.isInBillingRetryPeriod) == true
                || renewal.facts.integer(.expirationIntent) != nil
        }
        return CustomerHistory(
            user: try users.names(of: [number])[number] ?? user, firstSeenAt: known.firstSeenAt,
            transactions: try self.number(ofApp: limit?.app).map {
                try records.transactions(of: number, in: $0.number, newest: transactions)
                    .filter { origins.contains($0.origin) }
            } ?? [],
            renewals: renewals,
            renewalEvents: hasEvents ? try records.renewalEvents(of: number, from: origins) : RenewalEvents(),
            grants: try GrantRecords(database: database).grants(of: number, newest: grants)
                .filter { limit?.sees($0.item) ?? true })
    }

    /// The owners of purchases by their original transactions, each under the own name. A purchase without an owner is absent.
    package func owners(ofPurchases originals: Set<TransactionKey>) throws -> [TransactionKey: User] {
        let apps = try AppRecords(database: database).numbers(of: [])
        let owners = try EntitlementRecords(database: database, apps: apps).owners(ofPurchases: originals)
        let names = try users.names(of: Set(owners.values))
        return owners.compactMapValues { names[$0] }
    }
}
