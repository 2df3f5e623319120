import Ledger
import Proofs

extension WebhookEndpoint {
    init(_ row: SQLRow) throws {
        let previous: [UInt8]? = try row["previous_secret"]
        let endsAt: Timestamp? = try row["previous_secret_ends_at"]
        var ending: EndingSecret?
        if let previous, let endsAt { ending = EndingSecret(bytes: previous, endsAt: endsAt) }
        let authorization: String? = try row["authorization_value"]
        self.init(
            identifier: try row["endpoint_id"], url: try row["url"], format: try row["format"],
            createdAt: try row["created_at"], createdBy: try row["created_by"], secret: try row["secret"],
            previousSecret: ending, authorization: authorization.flatMap { WebhookAuthorization($0) },
            app: try row["app"])
    }
}

extension WebhookDelivery {
    init(_ row: SQLRow) throws {
        let record = try AuditRecord(row)
        let next: Timestamp? = try row["next_attempt_at"]
        let isDelivered: Bool = try row["is_delivered"]
        let key = Key(
            user: try row["user_id"], number: record.number, endpoint: try row["endpoint_id"])
        self.init(
            endpointIdentifier: key.endpoint, messageIdentifier: try row["message_id"],
            issuer: try row["issuer"], name: try row["name"], number: record.number, entry: record.entry,
            actorName: try row["actor_name"],
            state: next != nil ? .pending : isDelivered ? .delivered : .failed, attempts: try row["attempts"],
            nextAttemptAt: next, lastAttempt: try Attempt(row), key: key,
            lastAttemptNumber: try row["last_attempt"])
    }
}

extension WebhookDelivery.Attempt {
    /// - Parameter row: A row with the number of the attempt in `last_attempt`.
    /// - Returns: Nil for a delivery without an attempt.
    init?(_ row: SQLRow) throws {
        guard let at: Timestamp = try row["attempted_at"] else { return nil }
        let status: Int? = try row["status"]
        let error: String? = try row["error"]
        self.init(
            number: try row["last_attempt"], at: at,
            outcome: status.map { .answered(status: $0) } ?? error.map { .unanswered(code: $0) },
            milliseconds: try row["duration_ms"], response: try row["response"])
    }
}
