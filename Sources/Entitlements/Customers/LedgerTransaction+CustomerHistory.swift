import Commerce
import Ledger
import Receipts

extension LedgerTransaction {
    /// The purchases and grants of a user; nil for an unknown user.
    ///
    /// - Parameter origins: The origins that are valid for the user.
    public func history(of user: User, accepting origins: Set<Origin>) throws -> CustomerHistory? {
        guard let number = try users.known(user), let known = try knownUser(user) else { return nil }
        let records = ReadingRecords(database: database)
        let apps = try AppRecords(database: database).names()
        var renewals: [TransactionKey: StatedRenewal] = [:]
        for purchase in try records.renewals(of: number) where origins.contains(purchase.origin) {
            let key = TransactionKey(
                app: apps[purchase.app] ?? "", origin: purchase.origin,
                identifier: purchase.originalTransactionIdentifier)
            renewals[key] = purchase.renewal
        }
        return CustomerHistory(
            user: try users.names(of: [number])[number] ?? user, firstSeenAt: known.firstSeenAt,
            transactions: try records.transactions(
                of: number, in: nil, before: .max, limit: CustomerHistory.maximumTransactions
            ).filter { origins.contains($0.origin) },
            renewals: renewals,
            grants: try TeamRecords(database: database).grants(
                of: number, before: .max, limit: CustomerHistory.maximumGrants))
    }

    /// The owners of purchases by their original transactions, each under the own name. A purchase without an owner is absent.
    package func owners(ofPurchases originals: Set<TransactionKey>) throws -> [TransactionKey: User] {
        let apps = try AppRecords(database: database).numbers(of: [])
        let owners = try EntitlementRecords(database: database, apps: apps).owners(ofPurchases: originals)
        let names = try users.names(of: Set(owners.values))
        return owners.compactMapValues { names[$0] }
    }
}
