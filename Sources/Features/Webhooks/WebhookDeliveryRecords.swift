import Ledger
import Proofs
import Vocabulary

extension LedgerTransaction {
    /// The deliveries to an endpoint, newest first.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app; nil for all.
    ///   - state: The state of the deliveries; nil for all states.
    ///   - position: The end of the previous page; nil for the first page.
    package func webhookDeliveries(
        to endpoint: String,
        of app: String? = nil,
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
        return try webhookDeliveries(
            """
            webhook_delivery.endpoint_id = $1 AND (webhook_delivery.happened_at, message_id) < ($2, $3) \(condition)
                \(Self.condition(of: app, "$4"))
            ORDER BY webhook_delivery.happened_at DESC, message_id DESC LIMIT \(app == nil ? "$4" : "$5")
            """,
            [
                endpoint, position?.happenedAt ?? Timestamp(millisecondsSince1970: .max),
                position?.messageIdentifier ?? "",
            ] + (app.map { [$0] } ?? []) + [limit])
    }

    /// The deliveries about a user to an endpoint, newest first.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app; nil for all.
    ///   - position: The last delivery of the previous page; nil for the first page.
    package func webhookDeliveries(
        to endpoint: String, of app: String? = nil, about user: User, before position: WebhookDeliveryNumber?,
        limit: Int
    ) throws -> [WebhookDelivery] {
        guard let user = try users.known(user) else { return [] }
        return try webhookDeliveries(
            """
            webhook_delivery.user_id = $1 AND webhook_delivery.endpoint_id = $2
                AND (webhook_delivery.audit_number, webhook_delivery.companion) < ($3, $4)
                \(Self.condition(of: app, "$5"))
            ORDER BY webhook_delivery.audit_number DESC, webhook_delivery.companion DESC LIMIT \(app == nil ? "$5" : "$6")
            """,
            [user, endpoint, position?.number ?? .max, WebhookDelivery.column(of: position?.companion)]
                + (app.map { [$0] } ?? []) + [limit])
    }

    /// The SQL after a condition that finds the entries about an app's purchases alone; empty without an app.
    private static func condition(of app: String?, _ parameter: String) -> String {
        app == nil ? "" : "AND audit.app IN (SELECT app FROM app WHERE bundle_id = \(parameter))"
    }

    /// The delivery of a message to an endpoint; nil if there is none.
    package func webhookDelivery(_ message: String, to endpoint: String) throws -> WebhookDelivery? {
        try webhookDeliveries("webhook_delivery.endpoint_id = $1 AND message_id = $2", [endpoint, message]).first
    }

    /// - Parameter condition: The SQL after `WHERE`.
    func webhookDeliveries(_ condition: String, _ arguments: [any SQLConvertible]) throws -> [WebhookDelivery] {
        var deliveries = try database.rows(
            """
            SELECT webhook_delivery.endpoint_id, message_id, webhook_delivery.companion, audit.number, \(AuditEntry.columns),
                api_key.name, is_delivered, attempts, next_attempt_at, audit.user_id, last_attempt,
                \(WebhookDelivery.Attempt.columns)
            FROM webhook_delivery
            JOIN audit ON audit.user_id = webhook_delivery.user_id AND audit.number = webhook_delivery.audit_number
            \(AuditActor.keyJoin)
            LEFT JOIN webhook_attempt AS attempt ON attempt.user_id = webhook_delivery.user_id
                AND attempt.audit_number = webhook_delivery.audit_number
                AND attempt.endpoint_id = webhook_delivery.endpoint_id
                AND attempt.companion = webhook_delivery.companion AND attempt.number = last_attempt
            WHERE \(condition)
            """,
            arguments
        ) { row in
            WebhookDelivery(
                endpointIdentifier: try row.next(), messageIdentifier: try row.next(),
                companion: RevenueCatEvent.Kind(rawValue: try row.next()), issuer: "", name: "",
                number: try row.next(), entry: try AuditEntry(&row), actorName: try row.next(),
                isDelivered: try row.next(), attempts: try row.next(), nextAttemptAt: try row.next(),
                user: try row.next(), lastAttemptNumber: try row.next(), lastAttempt: try WebhookDelivery.Attempt(&row))
        }
        guard !deliveries.isEmpty else { return [] }
        // Also names that no user may have any more, which must not hold up the messages.
        let names: [Int64: (String, String)] = try database.dictionary(
            #"SELECT user_id, issuer, name FROM "user" WHERE user_id \#(database.isIn(numbers: "$1"))"#,
            [database.list(Set(deliveries.map(\.user)).sorted())]
        ) { (try $0.next(), (try $0.next(), try $0.next())) }
        for index in deliveries.indices {
            guard let name = names[deliveries[index].user] else { continue }
            (deliveries[index].issuer, deliveries[index].name) = name
        }
        // The tombstone of a merged user stands for the user into whom it was merged.
        let tombstones = deliveries.lazy.filter { $0.issuer == User.erasedIssuer }.map(\.user)
        let successors = try users.successors(of: Set(tombstones))
        for index in deliveries.indices {
            guard let user = successors[deliveries[index].user] else { continue }
            (deliveries[index].issuer, deliveries[index].name) = (user.issuer, user.name)
        }
        return deliveries
    }

    /// The last of some events about a transaction of a delivery's purchase before its entry, in the log of the same user; nil for
    /// none.
    func lastEntry(
        of events: [AuditEntry.Event], about transaction: String, before delivery: WebhookDelivery
    ) throws -> AuditEntry? {
        let entry = delivery.entry
        return try database.row(
            """
            SELECT \(AuditEntry.columns) FROM audit
            WHERE user_id = $1 AND number < $2 AND event IN \(events.sqlList) AND reference = $3 AND origin = $4
                \(entry.app == nil ? "" : "AND (app IS NULL OR app = (SELECT app FROM app WHERE bundle_id = $5))")
            ORDER BY number DESC LIMIT 1
            """,
            [delivery.user, delivery.number, SQLValue.packed(transaction), entry.origin]
                + (entry.app.map { [$0] } ?? []), AuditEntry.init)
    }

    /// The attempts of a delivery, newest first.
    package func attempts(of delivery: WebhookDelivery, limit: Int) throws -> [WebhookDelivery.Attempt] {
        try database.rows(
            """
            SELECT \(WebhookDelivery.Attempt.columns) FROM webhook_attempt AS attempt
            WHERE user_id = $1 AND audit_number = $2 AND endpoint_id = $3 AND companion = $4
            ORDER BY number DESC LIMIT $5
            """,
            delivery.key + [limit], WebhookDelivery.Attempt.init
        ).compactMap(\.self)
    }

    /// Marks a message as pending again, in any state.
    ///
    /// - Returns: The changed delivery; nil if there is none.
    package func replay(_ message: String, to endpoint: String) throws -> WebhookDelivery? {
        let isChanged = try replay(where: "endpoint_id = $2 AND message_id = $3", [endpoint, message]) == 1
        return isChanged ? try webhookDelivery(message, to: endpoint) : nil
    }

    /// Marks messages as pending again.
    ///
    /// - Parameter condition: The SQL that chooses the deliveries. Its arguments begin with `$2`.
    /// - Returns: The number of messages.
    private func replay(where condition: String, _ arguments: [any SQLConvertible]) throws -> Int {
        try database.execute(
            "UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1, is_delivered = 0 WHERE \(condition)",
            [WebhookDelivery.atOnce] + arguments)
    }

    /// Marks failed messages as pending again, oldest first.
    ///
    /// - Returns: The number of messages; `limit` if there may be more.
    package func replayFailed(to endpoint: String, limit: Int) throws -> Int {
        try replay(
            where: """
                endpoint_id = $2 AND message_id IN (
                    SELECT message_id FROM webhook_delivery
                    WHERE endpoint_id = $2 AND next_attempt_at IS NULL AND is_delivered = 0
                    ORDER BY happened_at LIMIT $3)
                """,
            [endpoint, limit])
    }

    /// Marks the delivered and the failed messages of a period as pending again, oldest first.
    ///
    /// - Parameters:
    ///   - position: The position after which the messages begin.
    ///   - end: The first moment after the period.
    /// - Returns: The positions of the messages; `limit` if there may be more.
    package func replay(
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
        ) { WebhookDeliveryPosition(happenedAt: try $0.next(), messageIdentifier: try $0.next()) }
        guard !found.isEmpty else { return [] }
        _ = try replay(
            where: "endpoint_id = $2 AND message_id \(database.isIn("$3"))",
            [endpoint, database.list(found.map(\.messageIdentifier))])
        return found
    }

    /// Marks the latest delivered and failed messages about a user to an endpoint as pending again.
    ///
    /// - Returns: The number of messages, at most `limit`.
    package func replayWebhooks(about user: User, to endpoint: String, limit: Int) throws -> Int {
        guard try database.has("webhook_delivery"), let user = try users.known(user) else { return 0 }
        return try replay(
            where: """
                user_id = $2 AND endpoint_id = $3 AND (audit_number, companion) IN (
                    SELECT audit_number, companion FROM webhook_delivery
                    WHERE user_id = $2 AND endpoint_id = $3 AND next_attempt_at IS NULL
                    ORDER BY audit_number DESC, companion DESC LIMIT $4)
                """,
            [user, endpoint, limit])
    }

    /// Deletes deliveries with their attempts.
    ///
    /// - Parameter keys: Their primary keys.
    func deleteWebhookDeliveries(_ keys: [[any SQLConvertible]]) throws {
        for table in ["webhook_attempt", "webhook_delivery"] {
            try database.delete(from: table, where: ["user_id", "audit_number", "endpoint_id", "companion"], keys)
        }
    }

    /// Deletes the deliveries to an endpoint of one app about anything but the purchases of the app.
    ///
    /// - Returns: The number of deliveries; `limit` if there may be more.
    func deleteExcludedWebhookDeliveries(to endpoint: String, limit: Int) throws -> Int {
        guard let app = try webhookEndpoint(endpoint)?.app else { return 0 }
        let keys: [[any SQLConvertible]] = try database.rows(
            """
            SELECT webhook_delivery.user_id, audit_number, endpoint_id, companion FROM webhook_delivery
            JOIN audit ON audit.user_id = webhook_delivery.user_id AND audit.number = webhook_delivery.audit_number
            WHERE endpoint_id = $1
                AND (audit.app IS NULL OR audit.app NOT IN (SELECT app FROM app WHERE bundle_id = $2)) LIMIT $3
            """,
            [endpoint, app, limit]
        ) { [try $0.nextValue(), try $0.nextValue(), try $0.nextValue(), try $0.nextValue()] }
        try deleteWebhookDeliveries(keys)
        return keys.count
    }

    /// Deletes delivered messages of events before a moment, and all messages to removed endpoints. An endpoint is deleted with
    /// its last message.
    ///
    /// - Returns: The number of messages; `limit` if there may be more.
    package func deleteWebhookMessages(before moment: Timestamp, limit: Int) throws -> Int {
        var deleted = 0
        let endpoints: [(String, removedAt: Timestamp?)] = try database.rows(
            "SELECT endpoint_id, removed_at FROM webhook_endpoint ORDER BY endpoint_id"
        ) { (try $0.next(), try $0.next()) }
        for (endpoint, removedAt) in endpoints {
            let condition = removedAt == nil ? "AND is_delivered = 1" : ""
            let old: [[any SQLConvertible]] = try database.rows(
                """
                SELECT user_id, audit_number, endpoint_id, companion FROM webhook_delivery
                WHERE endpoint_id = $1 AND happened_at < $2 \(condition) LIMIT $3
                """,
                [endpoint, removedAt == nil ? moment : Timestamp(millisecondsSince1970: .max), limit - deleted]
            ) { [try $0.nextValue(), try $0.nextValue(), try $0.nextValue(), try $0.nextValue()] }
            try deleteWebhookDeliveries(old)
            deleted += old.count
            guard deleted < limit else { break }
            guard removedAt != nil else { continue }
            try database.execute("DELETE FROM webhook_endpoint WHERE endpoint_id = $1", [endpoint])
        }
        return deleted
    }
}

/// The part of an endpoint on which its deliveries depend.
private struct WebhookReceiver: Sendable {
    static let all = SQLQuery(
        "SELECT endpoint_id, format, app, types FROM webhook_endpoint WHERE removed_at IS NULL ORDER BY endpoint_id")

    let identifier: String
    let format: WebhookFormat
    let app: String?
    let types: WebhookTypes?

    init(_ row: inout ResultRow) throws {
        (identifier, format, app, types) = (try row.next(), try row.next(), try row.next(), try row.next())
    }
}

extension LedgerFeature {
    /// The webhook messages to back ends: to each endpoint those that its format has about each audit record.
    package static let webhooks = LedgerFeature(
        tables: [.webhookEndpoint, .webhookDelivery, .webhookAttempt, .webhookChange],
        auditQuery: ("webhook_endpoint", WebhookReceiver.all),
        auditHook: { database in try hook(in: database) })

    private static func hook(in database: any LedgerDatabase) throws -> AuditHook? {
        guard try database.has("webhook_endpoint") else { return nil }
        let receivers = try database.rows(WebhookReceiver.all) { row in try WebhookReceiver(&row) }
        guard !receivers.isEmpty else { return nil }
        return { records, database, randomness in
            try enqueueWebhooks(about: records, to: receivers, in: database, randomness: randomness)
        }
    }

    /// Inserts the deliveries of each record to each endpoint that may receive its message. An endpoint of one app receives the events
    /// of its purchases. Where the purchase decides the type, the sender applies the filter (`WebhookService.due`).
    private static func enqueueWebhooks(
        about records: [(record: AuditRecord, user: Int64)],
        to endpoints: [WebhookReceiver],
        in database: any LedgerDatabase,
        randomness: Randomness
    ) throws {
        let records = records.filter { !$0.record.entry.event.rule.messages.isEmpty }
        guard !records.isEmpty else { return }
        let isAsked = endpoints.contains { $0.format == .revenueCat }
        let occasions = isAsked ? try RevenueCatOccasion.occasions(of: records, in: database) : []
        var rows: [[any SQLConvertible]] = []
        for (index, (record, user)) in records.enumerated() {
            // All endpoints of a format receive the same messages.
            var identifiers: [RevenueCatEvent.Kind?: String] = [:]
            for endpoint in endpoints
            where endpoint.app.map({ record.entry.app?.hasSameBytes(as: $0) ?? false }) ?? true {
                let messages =
                    endpoint.format == .revenueCat
                    ? RevenueCatEvent.messages(about: record.entry, on: occasions[index]) : [nil]
                for companion in messages
                where endpoint.types?.mayHave(endpoint.format.types(of: record.entry.event, companion)) ?? true {
                    let identifier = identifiers[companion] ?? "msg_" + randomness.bytes(16).hexadecimal
                    identifiers[companion] = identifier
                    rows.append([
                        user, record.number, endpoint.identifier, WebhookDelivery.column(of: companion), identifier,
                        record.entry.happenedAt, 0, WebhookDelivery.atOnce, false, 0,
                    ])
                }
            }
        }
        try database.insert(
            into: "webhook_delivery",
            [
                "user_id", "audit_number", "endpoint_id", "companion", "message_id", "happened_at", "attempts",
                "next_attempt_at", "is_delivered", "last_attempt",
            ],
            rows)
    }
}

extension Table {
    /// The deliveries. `companion` is the type of a message beside the event's own one, which has an empty text. `attempts` is the
    /// number of attempts since the message was created or replayed. `last_attempt` is the number of the last attempt.
    fileprivate static let webhookDelivery = Table(
        name: "webhook_delivery", family: .userData,
        columns: [
            .integer("user_id"), .integer("audit_number"), .text("endpoint_id"), .text("companion"),
            .text("message_id"), .integer("happened_at"), .integer("attempts", check: "attempts >= 0"),
            .integer("next_attempt_at").optional,
            .integer("is_delivered", check: "is_delivered IN (0, 1)"),
            .integer("last_attempt", check: "last_attempt >= 0"),
        ],
        key: ["user_id", "audit_number", "endpoint_id", "companion"],
        checks: ["is_delivered = 0 OR next_attempt_at IS NULL"],
        erasure: .deletion
    )
    .referring(to: "audit", by: ["user_id", "audit_number"], key: ["user_id", "number"])
    .indexed("webhook_delivery_message", by: ["message_id", "endpoint_id"])
    .indexedByAge("by_age", where: nil)
    .indexed(
        "webhook_delivery_due", by: ["endpoint_id", "next_attempt_at", "happened_at"],
        where: "next_attempt_at IS NOT NULL"
    )
    .indexedByAge("pending", where: "next_attempt_at IS NOT NULL")
    .indexedByAge("failed", where: "next_attempt_at IS NULL AND is_delivered = 0")
    .indexedByAge("delivered", where: "is_delivered = 1")
    .takingBack("next_attempt_at", within: WebhookSchedule.longestPause)

    /// The attempts to deliver a message. An attempt that has not ended has no status and no error. `response`: the beginning
    /// of the answer's body, as text.
    fileprivate static let webhookAttempt = Table(
        name: "webhook_attempt", family: .userData,
        columns: [
            .integer("user_id"), .integer("audit_number"), .text("endpoint_id"), .text("companion"),
            .integer("number", check: "number > 0"), .integer("attempted_at"), .integer("status").optional,
            .text("error").optional, .integer("duration_ms").optional, .text("response").optional,
        ],
        key: ["user_id", "audit_number", "endpoint_id", "companion", "number"],
        erasure: .deletion
    )
    .referring(to: "webhook_delivery", by: ["user_id", "audit_number", "endpoint_id", "companion"])

    /// The same table with an index of an endpoint's deliveries, in the order of their messages.
    private func indexedByAge(_ name: String, where condition: String?) -> Table {
        indexed("webhook_delivery_\(name)", by: ["endpoint_id", "happened_at", "message_id"], where: condition)
    }
}
