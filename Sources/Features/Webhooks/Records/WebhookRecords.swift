import Ledger
import Proofs

/// The statements on webhooks, inside the caller's transaction.
struct WebhookRecords {
    let database: any LedgerDatabase

    /// The due time of new and replayed deliveries, which precede all retries.
    static let atOnce = Timestamp(millisecondsSince1970: 0)

    /// Inserts a delivery for each record to each endpoint whose format has a message about it. An endpoint of one app receives
    /// the events of its purchases.
    func enqueue(_ records: [(record: AuditRecord, user: Int64)], randomness: Randomness) throws {
        let records = records.filter { record, _ in
            WebhookFormat.allCases.contains { $0.hasMessage(about: record.entry) }
        }
        guard !records.isEmpty, try database.has("webhook_endpoint") else { return }
        let endpoints: [(identifier: String, format: WebhookFormat, app: String?)] = try database.rows(
            "SELECT endpoint_id, format, app FROM webhook_endpoint WHERE removed_at IS NULL ORDER BY endpoint_id"
        ).map { (try $0["endpoint_id"], try $0["format"], try $0["app"]) }
        guard !endpoints.isEmpty else { return }
        try database.insert(
            into: "webhook_delivery",
            [
                "user_id", "audit_number", "endpoint_id", "message_id", "happened_at", "attempts", "next_attempt_at",
                "is_delivered", "last_attempt",
            ],
            records.flatMap { record, user -> [[any SQLConvertible]] in
                // All endpoints of a format receive the same message.
                let identifier = "msg_" + randomness.bytes(16).hexadecimal
                return endpoints.filter { endpoint in
                    endpoint.format.hasMessage(about: record.entry)
                        && endpoint.app.map { record.entry.app?.hasSameBytes(as: $0) ?? false } ?? true
                }.map {
                    [user, record.number, $0.identifier, identifier, record.entry.happenedAt, 0, Self.atOnce, false, 0]
                }
            })
    }

    func insert(_ endpoint: WebhookEndpoint) throws {
        try database.execute(
            """
            INSERT INTO webhook_endpoint (endpoint_id, url, created_at, created_by, secret, previous_secret,
                previous_secret_ends_at, format, authorization_value, app)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """,
            [
                endpoint.identifier, endpoint.url, endpoint.createdAt, endpoint.createdBy, endpoint.secret,
                endpoint.previousSecret?.bytes, endpoint.previousSecret?.endsAt,
                endpoint.format, endpoint.authorization?.value, endpoint.app,
            ])
    }

    func endpoints() throws -> [WebhookEndpoint] {
        try database.rows("SELECT * FROM webhook_endpoint WHERE removed_at IS NULL ORDER BY created_at, endpoint_id")
            .map(WebhookEndpoint.init)
    }

    func endpoint(_ identifier: String) throws -> WebhookEndpoint? {
        try database.row(
            "SELECT * FROM webhook_endpoint WHERE endpoint_id = $1 AND removed_at IS NULL", [identifier]
        ).map(WebhookEndpoint.init)
    }

    func dueEndpoints(at moment: Timestamp) throws -> [WebhookEndpoint] {
        try database.rows(
            """
            SELECT * FROM webhook_endpoint WHERE removed_at IS NULL AND endpoint_id IN (
                SELECT endpoint_id FROM webhook_delivery WHERE next_attempt_at <= $1)
            ORDER BY endpoint_id
            """,
            [moment]
        ).map(WebhookEndpoint.init)
    }

    func due(to endpoint: String, at moment: Timestamp, limit: Int) throws -> [WebhookDelivery] {
        try deliveries(
            """
            webhook_delivery.endpoint_id = $1 AND next_attempt_at <= $2
            ORDER BY next_attempt_at, webhook_delivery.happened_at LIMIT $3
            """,
            [endpoint, moment, limit])
    }

    /// Leases a delivery.
    ///
    /// - Returns: The leased delivery; nil if another service leased it first.
    func lease(_ delivery: WebhookDelivery, at moment: Timestamp, until end: Timestamp) throws -> WebhookDelivery? {
        let (key, number) = (delivery.key, delivery.lastAttemptNumber + 1)
        let isTaken =
            try database.execute(
                """
                UPDATE webhook_delivery
                SET attempts = attempts + 1, next_attempt_at = $1, last_attempt = $2
                WHERE user_id = $3 AND audit_number = $4 AND endpoint_id = $5 AND next_attempt_at = $6
                """,
                [end, number, key.user, key.number, key.endpoint, delivery.nextAttemptAt])
            == 1
        guard isTaken else { return nil }
        try database.insert(
            into: "webhook_attempt", ["user_id", "audit_number", "endpoint_id", "number", "attempted_at"],
            [[key.user, key.number, key.endpoint, number, moment]])
        return WebhookDelivery(
            endpointIdentifier: delivery.endpointIdentifier, messageIdentifier: delivery.messageIdentifier,
            issuer: delivery.issuer, name: delivery.name, number: delivery.number, entry: delivery.entry,
            actorName: delivery.actorName, state: .pending,
            attempts: delivery.attempts + 1, nextAttemptAt: end,
            lastAttempt: WebhookDelivery.Attempt(
                number: number, at: moment, outcome: nil, milliseconds: nil, response: nil),
            key: key, lastAttemptNumber: number)
    }

    func record(_ result: WebhookResult) throws {
        let (status, error): (Int?, String?) =
            switch result.outcome {
            case .answered(let status): (status, nil)
            case .unanswered(let code): (nil, code)
            }
        let (leased, key) = (result.delivery, result.delivery.key)
        let isCurrent =
            try database.execute(
                """
                UPDATE webhook_delivery SET next_attempt_at = $1, is_delivered = $2
                WHERE user_id = $3 AND audit_number = $4 AND endpoint_id = $5 AND next_attempt_at = $6
                """,
                [
                    result.nextAttemptAt, result.isDelivered, key.user, key.number, key.endpoint, leased.nextAttemptAt,
                ]) == 1
        guard isCurrent else { return }
        try database.update(
            "webhook_attempt", set: ["status", "error", "duration_ms", "response"],
            where: ["user_id", "audit_number", "endpoint_id", "number"],
            [
                [
                    status, error, result.milliseconds, result.response, key.user, key.number, key.endpoint,
                    leased.lastAttemptNumber,
                ]
            ])
    }

    /// The deliveries to an endpoint, newest first.
    func deliveries(
        to endpoint: String,
        in state: WebhookDelivery.State?,
        before position: WebhookDeliveryPosition?,
        limit: Int
    ) throws -> [WebhookDelivery] {
        let condition =
            switch state {
            case .pending: "AND next_attempt_at IS NOT NULL"
            case .delivered: "AND is_delivered = 1"
            case .failed: "AND next_attempt_at IS NULL AND is_delivered = 0"
            case nil: ""
            }
        return try deliveries(
            """
            webhook_delivery.endpoint_id = $1 AND (webhook_delivery.happened_at, message_id) < ($2, $3) \(condition)
            ORDER BY webhook_delivery.happened_at DESC, message_id DESC LIMIT $4
            """,
            [
                endpoint, position?.happenedAt ?? Timestamp(millisecondsSince1970: .max),
                position?.messageIdentifier ?? "", limit,
            ])
    }

    func delivery(_ message: String, to endpoint: String) throws -> WebhookDelivery? {
        try deliveries("webhook_delivery.endpoint_id = $1 AND message_id = $2", [endpoint, message]).first
    }

    func remove(_ endpoint: String, at moment: Timestamp) throws -> Bool {
        try database.execute(
            "UPDATE webhook_endpoint SET removed_at = $1 WHERE endpoint_id = $2 AND removed_at IS NULL",
            [moment, endpoint]) == 1
    }

    /// Deletes old delivered messages and all messages to removed endpoints. An endpoint is deleted with its last message.
    ///
    /// - Returns: The number of messages; `limit` if there may be more.
    func delete(before moment: Timestamp, limit: Int) throws -> Int {
        var deleted = 0
        for row in try database.rows("SELECT endpoint_id, removed_at FROM webhook_endpoint ORDER BY endpoint_id") {
            let (endpoint, removedAt): (String, Timestamp?) = (try row["endpoint_id"], try row["removed_at"])
            let condition = removedAt == nil ? "AND is_delivered = 1" : ""
            let old = try database.rows(
                """
                SELECT user_id, audit_number, endpoint_id FROM webhook_delivery
                WHERE endpoint_id = $1 AND happened_at < $2 \(condition) LIMIT $3
                """,
                [
                    endpoint, removedAt == nil ? moment : Timestamp(millisecondsSince1970: .max),
                    limit - deleted,
                ]
            ).map(\.values)
            for table in ["webhook_attempt", "webhook_delivery"] {
                try database.delete(from: table, where: ["user_id", "audit_number", "endpoint_id"], old)
            }
            deleted += old.count
            guard deleted < limit else { break }
            guard removedAt != nil else { continue }
            try database.execute("DELETE FROM webhook_endpoint WHERE endpoint_id = $1", [endpoint])
        }
        return deleted
    }

    /// - Parameter condition: The SQL after `WHERE`.
    private func deliveries(_ condition: String, _ arguments: [any SQLConvertible]) throws -> [WebhookDelivery] {
        // From two equal columns PostgreSQL would conclude a third one, and read all audit records of the user for each delivery.
        let rows = try database.rows(
            """
            SELECT audit.*, api_key.name AS actor_name, issuer, "user".name, webhook_delivery.endpoint_id, message_id,
                attempts, next_attempt_at, is_delivered, last_attempt, attempted_at, status, error, duration_ms,
                response
            FROM webhook_delivery
            JOIN audit ON audit.user_id = webhook_delivery.user_id AND audit.number = webhook_delivery.audit_number
            JOIN "user" ON "user".user_id = coalesce(webhook_delivery.user_id, 0)
            \(AuditActor.keyJoin)
            LEFT JOIN webhook_attempt AS attempt ON attempt.user_id = webhook_delivery.user_id
                AND attempt.audit_number = webhook_delivery.audit_number
                AND attempt.endpoint_id = webhook_delivery.endpoint_id AND attempt.number = last_attempt
            WHERE \(condition)
            """,
            arguments)
        return try withSuccessors(rows).map(WebhookDelivery.init)
    }

    /// The rows with the names of the users into which the users of tombstones were merged.
    private func withSuccessors(_ rows: [SQLRow]) throws -> [SQLRow] {
        let tombstones = Set(
            try rows.compactMap { row -> Int64? in
                let issuer: String = try row["issuer"]
                return issuer == User.erasedIssuer ? try row["user_id"] : nil
            })
        guard !tombstones.isEmpty else { return rows }
        let successors = try UserRecords(database: database, randomness: .system).successors(of: tombstones)
        return try rows.map { row in
            guard let user = successors[try row["user_id"]] else { return row }
            return row.replacing(["issuer": .text(user.issuer), "name": .text(user.name)])
        }
    }
}

extension WebhookRecords {
    /// The last revocation of a delivery's transaction before its entry, in the log of the same user; nil for none.
    func revocation(before delivery: WebhookDelivery) throws -> AuditEntry? {
        let entry = delivery.entry
        guard entry.event == .granted else { return nil }
        return try database.row(
            """
            SELECT * FROM audit WHERE user_id = $1 AND number < $2 AND event = $3 AND reference = $4 AND origin = $5
                \(entry.app == nil ? "" : "AND (app IS NULL OR app = $6)")
            ORDER BY number DESC LIMIT 1
            """,
            [
                delivery.key.user, delivery.key.number, AuditEntry.Event.revoked, entry.reference, entry.origin,
            ] + (entry.app.map { [$0] } ?? [])
        ).map { try AuditRecord($0).entry }
    }
}

/// The statements on attempts and replays.
extension WebhookRecords {
    /// The attempts of a delivery, newest first.
    func attempts(of delivery: WebhookDelivery, limit: Int) throws -> [WebhookDelivery.Attempt] {
        try database.rows(
            """
            SELECT number AS last_attempt, attempted_at, status, error, duration_ms, response FROM webhook_attempt
            WHERE user_id = $1 AND audit_number = $2 AND endpoint_id = $3 ORDER BY number DESC LIMIT $4
            """,
            [delivery.key.user, delivery.key.number, delivery.key.endpoint, limit]
        ).compactMap(WebhookDelivery.Attempt.init)
    }

    func replay(_ message: String, to endpoint: String) throws -> Bool {
        try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1, is_delivered = 0
            WHERE endpoint_id = $2 AND message_id = $3
            """,
            [Self.atOnce, endpoint, message]) == 1
    }

    func replayFailed(to endpoint: String, limit: Int) throws -> Int {
        try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1
            WHERE endpoint_id = $2 AND message_id IN (
                SELECT message_id FROM webhook_delivery
                WHERE endpoint_id = $2 AND next_attempt_at IS NULL AND is_delivered = 0
                ORDER BY happened_at LIMIT $3)
            """,
            [Self.atOnce, endpoint, limit])
    }

    /// Marks ended deliveries of events in a period as pending, oldest first.
    ///
    /// - Parameters:
    ///   - position: The position after which the deliveries begin.
    ///   - end: The first moment after the period.
    /// - Returns: The positions of the deliveries.
    func replay(
        to endpoint: String,
        after position: WebhookDeliveryPosition,
        until end: Timestamp,
        limit: Int
    ) throws -> [WebhookDeliveryPosition] {
        // Two branches, each over the index of its state, so that pending deliveries are not read.
        func ended(_ index: String, _ condition: String) -> String {
            """
            SELECT happened_at, message_id FROM (
                SELECT happened_at, message_id FROM webhook_delivery \(database.indexed(by: index))
                WHERE endpoint_id = $1 AND (happened_at, message_id) > ($2, $3) AND happened_at < $4 AND \(condition)
                ORDER BY happened_at, message_id LIMIT $5) AS ended
            """
        }
        let found = try database.rows(
            """
            \(ended("webhook_delivery_failed", "next_attempt_at IS NULL AND is_delivered = 0"))
            UNION ALL \(ended("webhook_delivery_delivered", "is_delivered = 1"))
            ORDER BY happened_at, message_id LIMIT $5
            """,
            [endpoint, position.happenedAt, position.messageIdentifier, end, limit]
        ).map {
            WebhookDeliveryPosition(happenedAt: try $0["happened_at"], messageIdentifier: try $0["message_id"])
        }
        guard !found.isEmpty else { return [] }
        try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1, is_delivered = 0
            WHERE endpoint_id = $2 AND message_id \(database.isIn("$3"))
            """,
            [Self.atOnce, endpoint, database.list(found.map(\.messageIdentifier))])
        return found
    }
}
