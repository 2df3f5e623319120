import Commerce
import Ledger

/// A claim that a user was refused.
struct Refusal: Hashable {
    let user: Int64
    let key: TransactionKey
    let result: String

    init(user: Int64, key: TransactionKey, result: String) {
        self.user = user
        self.key = key
        self.result = result
    }

    init(_ user: Int64, _ claim: Claim, _ result: Redemption.Result) {
        self.init(user: user, key: claim.key, result: result.rawValue)
    }
}

/// The SQL about refusals, inside a transaction that the caller holds.
struct RefusalRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The refusals that were recorded before.
    func known(among refusals: [Refusal]) throws -> Set<Refusal> {
        guard !refusals.isEmpty else { return [] }
        let rows = try database.rows(
            """
            SELECT user_id, transaction_id, origin, app, reason FROM \(database.listed("$1"))
                JOIN refusal ON user_id = listed.value
            WHERE transaction_id \(database.isIn("$2"))
            """,
            [
                database.list(Set(refusals.map(\.user)).sorted()),
                database.list(Set(refusals.map { ByteKey($0.key.identifier) }).sorted().map(\.text)),
            ])
        return Set(
            try rows.map {
                Refusal(
                    user: try $0["user_id"],
                    key: TransactionKey(
                        app: try apps.bundleIdentifier($0), origin: try $0["origin"],
                        identifier: try $0["transaction_id"]),
                    result: try $0["reason"])
            })
    }

    func insert(_ refusals: [Refusal]) throws {
        try database.insert(
            into: "refusal", ["user_id"] + Table.transactionKey + ["reason"],
            refusals.map { [$0.user] + $0.key.sqlValues(apps) + [$0.result] })
    }
}
