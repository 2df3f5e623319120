import Ledger
import Proofs

/// The statements on the changes of webhooks, inside the caller's transaction.
struct WebhookChangeRecords {
    let database: any LedgerDatabase

    /// - Parameter randomBytes: `WebhookChangeIdentifier.randomCount` bytes.
    func add(_ change: WebhookChange, randomBytes: [UInt8]) throws {
        let last = try database.row(
            """
            SELECT change_id FROM webhook_change WHERE endpoint_id = $1 AND happened_at = $2
            ORDER BY change_id DESC LIMIT 1
            """,
            [change.endpointIdentifier, change.happenedAt]
        ).map { try $0["change_id"] as [UInt8] }
        let identifier = WebhookChangeIdentifier(after: last, randomBytes: randomBytes)
        try database.insert(
            into: "webhook_change", ["endpoint_id", "happened_at", "change_id", "event", "changed_by", "detail"],
            [
                [
                    change.endpointIdentifier, change.happenedAt, identifier.bytes, change.event.rawValue,
                    change.changedBy,
                    change.detail,
                ]
            ])
    }

    /// The last changes of an endpoint, newest first.
    func changes(of endpoint: String, limit: Int) throws -> [WebhookChange] {
        try database.rows(
            """
            SELECT * FROM webhook_change WHERE endpoint_id = $1 ORDER BY happened_at DESC, change_id DESC LIMIT $2
            """,
            [endpoint, limit]
        ).compactMap { row in
            guard let event = WebhookChange.Event(rawValue: try row["event"]) else { return nil }
            return WebhookChange(
                endpointIdentifier: try row["endpoint_id"], happenedAt: try row["happened_at"], event: event,
                changedBy: try row["changed_by"], detail: try row["detail"])
        }
    }
}

extension LedgerTransaction {
    /// Records a change of a webhook.
    func record(_ change: WebhookChange, randomBytes: [UInt8]) throws {
        try WebhookChangeRecords(database: database).add(change, randomBytes: randomBytes)
    }

    /// The last changes of a webhook, newest first.
    package func webhookChanges(of endpoint: String, limit: Int) throws -> [WebhookChange] {
        try WebhookChangeRecords(database: database).changes(of: endpoint, limit: limit)
    }
}

/// The identifier of a change: its number among the changes of a webhook in one millisecond, and random bytes, so that
/// concurrent changes do not conflict. Identifiers of one millisecond are sorted by the order of recording.
package struct WebhookChangeIdentifier: Hashable, Sendable {
    /// The number of random bytes.
    package static let randomCount = 8

    /// The big-endian number, and then the random bytes.
    package let bytes: [UInt8]

    /// - Parameter last: The greatest identifier of the webhook in the same millisecond; nil for none.
    package init(after last: [UInt8]?, randomBytes: [UInt8]) {
        let next = last.map { $0.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } &+ 1 } ?? 1
        bytes = (0..<8).map { UInt8(truncatingIfNeeded: next >> (56 - 8 * $0)) } + randomBytes
    }
}
