import Ledger
import Proofs

extension LedgerFeature {
    /// The webhook messages to back ends: one to each endpoint for each audit record.
    package static let webhooks = LedgerFeature(
        tables: [.webhookEndpoint, .webhookDelivery, .webhookAttempt, .webhookChange],
        auditHook: { records, database, randomness in
            try enqueueWebhooks(about: records, in: database, randomness: randomness)
        })

    /// Inserts a delivery for each record to each endpoint whose format has a message about it. An endpoint of one app receives
    /// the events of its purchases.
    private static func enqueueWebhooks(
        about records: [(record: AuditRecord, user: Int64)],
        in database: any LedgerDatabase,
        randomness: Randomness
    ) throws {
        let records = records.filter { record, _ in
            WebhookFormat.allCases.contains { $0.hasMessage(about: record.entry) }
        }
        guard !records.isEmpty, try database.has("webhook_endpoint") else { return }
        let endpoints: [(identifier: String, format: WebhookFormat, app: String?)] = try database.rows(
            "SELECT endpoint_id, format, app FROM webhook_endpoint WHERE removed_at IS NULL ORDER BY endpoint_id"
        ) { (try $0.next(), try $0.next(), try $0.next()) }
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
                    [
                        user, record.number, $0.identifier, identifier, record.entry.happenedAt, 0,
                        WebhookDelivery.atOnce, false, 0,
                    ]
                }
            })
    }
}

extension Table {
    /// The endpoints. A removed endpoint stays until its deliveries are deleted. Deliveries have no foreign key to it, because
    /// each redemption would have to lock the endpoint. `app`: the bundle identifier of the only app whose events it receives; null
    /// for all events.
    fileprivate static let webhookEndpoint = Table(
        name: "webhook_endpoint", family: .everywhere,
        columns: [
            .text("endpoint_id"), .text("url"), .integer("created_at"), .text("created_by"),
            .blob("secret", count: 32), .blob("previous_secret", count: 32).optional,
            .integer("previous_secret_ends_at").optional, .integer("removed_at").optional, .text("format"),
            .text("authorization_value").optional, .text("app").optional,
        ],
        key: ["endpoint_id"], checks: ["(previous_secret IS NULL) = (previous_secret_ends_at IS NULL)"])

    /// The deliveries. `attempts` is the number of attempts since the message was created or replayed. `last_attempt` is the
    /// number of the last attempt.
    fileprivate static let webhookDelivery = Table(
        name: "webhook_delivery", family: .userData,
        columns: [
            .integer("user_id"), .integer("audit_number"), .text("endpoint_id"), .text("message_id"),
            .integer("happened_at"), .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional,
            .integer("is_delivered", check: "is_delivered IN (0, 1)"),
            .integer("last_attempt", check: "last_attempt >= 0"),
        ],
        key: ["user_id", "audit_number", "endpoint_id"],
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

    /// The attempts to deliver a message. An attempt that has not ended has no status and no error. `response`: the beginning
    /// of the answer's body, as text.
    fileprivate static let webhookAttempt = Table(
        name: "webhook_attempt", family: .userData,
        columns: [
            .integer("user_id"), .integer("audit_number"), .text("endpoint_id"),
            .integer("number", check: "number > 0"), .integer("attempted_at"), .integer("status").optional,
            .text("error").optional, .integer("duration_ms").optional, .text("response").optional,
        ],
        key: ["user_id", "audit_number", "endpoint_id", "number"],
        erasure: .deletion
    )
    .referring(to: "webhook_delivery", by: ["user_id", "audit_number", "endpoint_id"])

    /// The changes of endpoints by back ends and people. They stay after the removal of the endpoint.
    fileprivate static let webhookChange = Table(
        name: "webhook_change", family: .everywhere,
        columns: [
            .text("endpoint_id"), .integer("happened_at"), .blob("change_id", count: 16), .text("event"),
            .text("changed_by"), .text("detail").optional,
        ],
        key: ["endpoint_id", "happened_at", "change_id"])

    /// The same table with an index of an endpoint's deliveries, in the order of their messages.
    private func indexedByAge(_ name: String, where condition: String?) -> Table {
        indexed("webhook_delivery_\(name)", by: ["endpoint_id", "happened_at", "message_id"], where: condition)
    }
}
