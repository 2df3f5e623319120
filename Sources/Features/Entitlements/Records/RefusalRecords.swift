import Ledger
import Proofs

/// A refused claim of a user.
struct Refusal: Hashable {
    let user: Int64
    let key: TransactionKey
    let result: String
}

extension Refusal {
    init(_ user: Int64, _ claim: Claim, _ result: Redemption.Result) {
        self.init(user: user, key: claim.key, result: result.rawValue)
    }
}

/// The SQL of refusals, inside the caller's transaction.
struct RefusalRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The maximum number of recorded refusals of a user, because a user may send any number of other people's proofs.
    static let maximumOfUser = 1000

    /// The refusals that were recorded before.
    struct Known {
        private var refusals: Set<Refusal> = []
        /// The counts by the user.
        private var counts: [Int64: Int] = [:]

        fileprivate mutating func add(_ refusal: Refusal) { refusals.insert(refusal) }

        fileprivate mutating func set(_ count: Int, of user: Int64) { counts[user] = count }

        /// Adds a refusal.
        ///
        /// - Returns: True if it is new, and within the limit of the user.
        mutating func insert(_ refusal: Refusal) -> Bool {
            guard counts[refusal.user, default: 0] < maximumOfUser, refusals.insert(refusal).inserted else {
                return false
            }
            counts[refusal.user, default: 0] += 1
            return true
        }
    }

    func known(among refusals: [Refusal]) throws -> Known {
        var known = Known()
        guard !refusals.isEmpty else { return known }
        let rows = try database.rows(
            """
            SELECT user_id, transaction_id, origin, app, reason, 0 AS refusals FROM \(database.listed("$1"))
                JOIN refusal ON user_id = listed.value
            WHERE transaction_id \(database.isIn("$2"))
            UNION ALL
            SELECT user_id, NULL, NULL, NULL, NULL, count(*) FROM \(database.listed("$1"))
                JOIN refusal ON user_id = listed.value
            GROUP BY user_id
            """,
            [
                database.list(Set(refusals.map(\.user)).sorted()),
                database.list(Set(refusals.map { ByteKey($0.key.identifier) }).sorted().map(\.text)),
            ])
        for row in rows {
            let user: Int64 = try row["user_id"]
            guard let identifier: String = try row["transaction_id"] else {
                known.set(try row["refusals"], of: user)
                continue
            }
            known.add(
                Refusal(
                    user: user,
                    key: TransactionKey(
                        app: try apps.bundleIdentifier(row), origin: try row["origin"], identifier: identifier),
                    result: try row["reason"]))
        }
        return known
    }

    func insert(_ refusals: [Refusal]) throws {
        try database.insert(
            into: "refusal", ["user_id"] + Table.transactionKey + ["reason"],
            refusals.map { [$0.user] + $0.key.sqlValues(apps) + [$0.result] })
    }
}
