import Ledger
import Proofs

/// The statements on webhooks and their changes.
extension LedgerTransaction {
    /// Adds an endpoint.
    ///
    /// - Parameter maximum: The largest number of endpoints of an app, and of those for all apps.
    /// - Returns: False if there are already so many.
    package func add(_ endpoint: WebhookEndpoint, upTo maximum: Int) throws -> Bool {
        let count = try webhookEndpoints().count { $0.app.map { ByteKey($0) } == endpoint.app.map { ByteKey($0) } }
        guard count < maximum else { return false }
        try database.insert(into: "webhook_endpoint", WebhookEndpoint.columns, [endpoint.sqlValues])
        return true
    }

    /// All endpoints, oldest first.
    package func webhookEndpoints() throws -> [WebhookEndpoint] {
        guard try database.has("webhook_endpoint") else { return [] }
        return try webhookEndpoints("ORDER BY created_at, endpoint_id")
    }

    package func webhookEndpoint(_ identifier: String) throws -> WebhookEndpoint? {
        try webhookEndpoints("AND endpoint_id = $1", [identifier]).first
    }

    /// - Parameter condition: The SQL after the condition that excludes removed endpoints.
    func webhookEndpoints(_ condition: String, _ arguments: [any SQLConvertible] = []) throws -> [WebhookEndpoint] {
        try database.rows(
            """
            SELECT \(WebhookEndpoint.columns.joined(separator: ", ")) FROM webhook_endpoint
            WHERE removed_at IS NULL \(condition)
            """,
            arguments, WebhookEndpoint.init)
    }

    /// Replaces an endpoint's secret. The previous one also signs messages until it ends.
    ///
    /// - Returns: False if the endpoint has another secret than `presented`, or does not exist.
    package func replace(
        _ presented: [UInt8],
        with secret: [UInt8],
        ending moment: Timestamp,
        ofWebhookEndpoint identifier: String
    ) throws -> Bool {
        try database.execute(
            """
            UPDATE webhook_endpoint SET secret = $1, previous_secret = $2, previous_secret_ends_at = $3
            WHERE endpoint_id = $4 AND secret = $2
            """,
            [secret, presented, moment, identifier]) == 1
    }

    /// Records the replay of several messages; nothing for none.
    func recordReplay(of count: Int, to endpoint: String, at moment: Timestamp, by key: String) throws {
        guard count > 0 else { return }
        try record(.messagesReplayed, of: endpoint, at: moment, by: key, detail: String(count))
    }

    func record(
        _ event: WebhookChange.Event, of endpoint: String, at moment: Timestamp, by key: String, detail: String?
    ) throws {
        let last: [UInt8]? = try database.value(
            """
            SELECT change_id FROM webhook_change WHERE endpoint_id = $1 AND happened_at = $2
            ORDER BY change_id DESC LIMIT 1
            """,
            [endpoint, moment])
        let identifier = WebhookChangeIdentifier(
            after: last, randomBytes: randomness.bytes(WebhookChangeIdentifier.randomCount))
        try database.insert(
            into: "webhook_change", ["endpoint_id", "happened_at", "change_id", "event", "changed_by", "detail"],
            [[endpoint, moment, identifier.bytes, event.rawValue, key, detail]])
    }

    /// The last changes of a webhook, newest first.
    package func webhookChanges(of endpoint: String, limit: Int) throws -> [WebhookChange] {
        try database.rows(
            """
            SELECT event, happened_at, changed_by, detail FROM webhook_change WHERE endpoint_id = $1
            ORDER BY happened_at DESC, change_id DESC LIMIT $2
            """,
            [endpoint, limit]
        ) { row -> WebhookChange? in
            guard let event = WebhookChange.Event(rawValue: try row.next()) else { return nil }
            return WebhookChange(
                endpointIdentifier: endpoint, happenedAt: try row.next(), event: event, changedBy: try row.next(),
                detail: try row.next())
        }.compactMap(\.self)
    }
}

extension WebhookEndpoint {
    fileprivate static let columns = [
        "endpoint_id", "url", "format", "created_at", "created_by", "secret", "previous_secret",
        "previous_secret_ends_at", "authorization_value", "app",
    ]

    /// The values of the columns, in their order.
    fileprivate var sqlValues: [any SQLConvertible] {
        [
            identifier, url, format, createdAt, createdBy, secret, previousSecret, previousSecretEndsAt,
            authorization?.value, app,
        ]
    }

    /// The endpoint in the next columns, which are `columns`.
    fileprivate init(_ row: inout ResultRow) throws {
        self.init(
            identifier: try row.next(), url: try row.next(), format: try row.next(), createdAt: try row.next(),
            createdBy: try row.next(), secret: try row.next(), previousSecret: try row.next(),
            previousSecretEndsAt: try row.next(),
            authorization: (try row.next() as String?).flatMap { WebhookAuthorization($0) }, app: try row.next())
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
