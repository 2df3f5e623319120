import Foundation
import Ledger
import Proofs

/// The SQL of the support team's queries, inside the caller's transaction.
struct SupportRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The greatest text with a prefix.
    private static func end(of prefix: String) -> String { prefix + "\u{10FFFF}" }

    /// The users with a prefix of their names, in the order of their names, after a user.
    func users(namedFrom prefix: String, after last: User?, limit: Int) throws -> [KnownUser] {
        // Nearly all issuers are the same, from which PostgreSQL would conclude that hardly any other one is left, and read all
        // names.
        try database.rows(
            """
            SELECT user_name.name, user_name.issuer, app_account_token, first_seen_at
            FROM user_name JOIN "user" ON "user".user_id = user_name.user_id
            WHERE user_name.name >= $1 AND user_name.name < $2 AND coalesce(user_name.issuer, '') <> $3
                AND (user_name.name, user_name.issuer) > ($4, $5)
            ORDER BY user_name.name, user_name.issuer LIMIT $6
            """,
            [prefix, Self.end(of: prefix), User.erasedIssuer, last?.name ?? "", last?.issuer ?? "", limit]
        ).compactMap(Self.user)
    }

    func user(withToken token: UUID) throws -> [KnownUser] {
        try database.rows(
            """
            SELECT "user".name, "user".issuer, "user".app_account_token, first_seen_at
            FROM account_token JOIN "user" ON "user".user_id = account_token.user_id
            WHERE account_token.app_account_token = $1
            """,
            [token]
        ).compactMap(Self.user)
    }

    private static func user(_ row: SQLRow) throws -> KnownUser? {
        guard let user = User(issuer: try row["issuer"], name: try row["name"]) else { return nil }
        return KnownUser(
            user: user, appAccountToken: try row["app_account_token"], firstSeenAt: try row["first_seen_at"])
    }

    /// The purchases of a transaction or an original transaction.
    func purchases(of identifier: String) throws -> [(key: TransactionKey, owner: Int64)] {
        try database.rows(
            """
            SELECT original_transaction_id, origin, app, user_id FROM claim WHERE transaction_id = $1
            UNION
            SELECT original_transaction_id, origin, app, user_id FROM original WHERE original_transaction_id = $1
            ORDER BY origin, app, original_transaction_id
            """,
            [identifier]
        ).map { (try key($0, "original_transaction_id"), try $0["user_id"]) }
    }

    func notifications(of original: TransactionKey) throws -> [StatedNotification] {
        try database.rows(
            """
            SELECT * FROM notification \(database.indexed(by: "notification_of_original"))
            WHERE original_transaction_id = $1 AND origin = $2 AND app = $3
            ORDER BY signed_at DESC, notification_uuid DESC LIMIT 200
            """,
            original.sqlValues(apps)
        ).map(Self.notification)
    }

    static func notification(_ row: SQLRow) throws -> StatedNotification {
        guard let outcome = NotificationOutcome(rawValue: try row["outcome"]) else {
            throw SQLRow.Mismatch(column: "outcome")
        }
        return StatedNotification(
            notificationUUID: try row["notification_uuid"], origin: try row["origin"], type: try row["type"],
            subtype: try row["subtype"], transactionIdentifier: try row["transaction_id"],
            originalTransactionIdentifier: try row["original_transaction_id"], signedAt: try row["signed_at"],
            receivedAt: try row["received_at"], outcome: outcome,
            content: try row["content"])
    }

    func items(of sequences: [Int64], of user: Int64) throws -> [Item] {
        let rows = try database.rows(
            """
            SELECT DISTINCT collection, number FROM \(database.listed("$1"))
                JOIN entitlement ON sequence = listed.value WHERE user_id = $2
            """,
            [database.list(sequences), user])
        return try rows.map { Item(collection: try $0["collection"], number: try $0["number"]) }.sorted()
    }

    /// The owners of the purchases in entries of an audit log, by their transactions.
    ///
    /// - Parameter app: The bundle identifier of the purchases' app; nil for all apps.
    func owners(of entries: [AuditEntry], in app: String? = nil, _ users: UserRecords) throws -> [String: User] {
        guard !entries.isEmpty else { return [:] }
        let identifiers = database.list(Set(entries.map { ByteKey($0.reference) }).sorted().map(\.text))
        let rows = try database.rows(
            """
            SELECT transaction_id, origin, app, user_id FROM claim WHERE transaction_id \(database.isIn("$1"))
            UNION
            SELECT original_transaction_id, origin, app, user_id FROM original
            WHERE original_transaction_id \(database.isIn("$1"))
            """,
            [identifiers])
        let names = try users.names(of: Set(rows.map { try $0["user_id"] as Int64 }))
        var owners: [String: User] = [:]
        for row in rows {
            let (identifier, origin): (String, Origin) = (try row["transaction_id"], try row["origin"])
            guard try app?.hasSameBytes(as: apps.bundleIdentifier(row)) ?? true else { continue }
            let isMeant = entries.contains { $0.origin == origin && $0.reference.hasSameBytes(as: identifier) }
            guard isMeant, let owner = names[try row["user_id"] as Int64], owner.issuer != User.erasedIssuer else {
                continue
            }
            owners[identifier] = owner
        }
        return owners
    }

    func key(_ row: SQLRow, _ column: String) throws -> TransactionKey {
        TransactionKey(app: try apps.bundleIdentifier(row), origin: try row["origin"], identifier: try row[column])
    }
}
