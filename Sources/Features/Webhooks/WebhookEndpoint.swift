import Ledger
import Proofs
import Vocabulary

/// An endpoint of a team's back end that receives webhooks.
package struct WebhookEndpoint: Hashable, Sendable {
    package let identifier: String
    package internal(set) var url: String
    /// The format of the messages, which never changes.
    package let format: WebhookFormat
    package let createdAt: Timestamp
    /// The identifier of the API key that created the endpoint.
    package let createdBy: String
    /// The secret that signs messages.
    package internal(set) var secret: [UInt8]
    /// The previous secret, which also signs messages until it ends; nil if the secret was never replaced.
    package internal(set) var previousSecret: [UInt8]?
    /// The end of the previous secret; nil if there is none.
    package internal(set) var previousSecretEndsAt: Timestamp?
    /// The header `Authorization` of each message; nil for none.
    package internal(set) var authorization: WebhookAuthorization?
    /// The bundle identifier of the only app whose events it receives, and whose keys may change it; nil for all events.
    package internal(set) var app: String?
    /// The types of the only messages that it receives; nil for all.
    package internal(set) var types: WebhookTypes?

    package init(
        identifier: String, url: String, format: WebhookFormat = .standard, createdAt: Timestamp, createdBy: String,
        secret: [UInt8], previousSecret: [UInt8]? = nil, previousSecretEndsAt: Timestamp? = nil,
        authorization: WebhookAuthorization? = nil, app: String? = nil, types: WebhookTypes? = nil
    ) {
        (self.identifier, self.url, self.format) = (identifier, url, format)
        (self.createdAt, self.createdBy, self.secret) = (createdAt, createdBy, secret)
        (self.previousSecret, self.previousSecretEndsAt) = (previousSecret, previousSecretEndsAt)
        (self.authorization, self.app, self.types) = (authorization, app, types)
    }
}

/// A part of a change of an endpoint.
package enum WebhookSetting<Value: Sendable>: Sendable {
    /// It stays as it is, also if somebody else changes it at the same time.
    case unchanged
    /// Nil for all apps or all types, or for no authorization.
    case set(Value?)

    var isSet: Bool { if case .set = self { true } else { false } }
}

/// The types of the only messages that an endpoint receives, in the order of their names.
package struct WebhookTypes: Hashable, Sendable, CustomStringConvertible {
    package let names: [String]

    /// - Throws: `WebhookError`, `typeUnknown`.
    package init(_ names: [String], of format: WebhookFormat) throws(WebhookError) {
        for name in names where !format.types.contains(name) { throw .typeUnknown(name, of: format) }
        self.names = Set(names).sorted()
    }

    package var description: String { names.joined(separator: " ") }

    /// True if one of some types is among them.
    func mayHave(_ types: [String]) -> Bool { types.contains(where: names.contains) }
}

extension WebhookTypes: SQLConvertible {
    package var sqlValue: SQLValue { .text(description) }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        names = text.split(separator: " ").map(String.init)
    }
}

/// The value of the header `Authorization` of each message. The team sets it, and its receiver compares it.
///
/// It is a secret, so its description hides it.
package struct WebhookAuthorization: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, in bytes.
    package static let maximumLength = 1024

    package let value: String

    /// - Returns: Nil unless the value is 1 to `maximumLength` printable ASCII characters, with spaces only between others.
    package init?(_ value: String) {
        guard (1...Self.maximumLength).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), value.utf8.first != 0x20, value.utf8.last != 0x20
        else { return nil }
        self.value = value
    }

    package var description: String { "hidden" }
}

/// The secret that signs a webhook's messages, in the format of Standard Webhooks: `whsec_` and 32 bytes in base64.
package struct WebhookSecret: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of a generated secret.
    static let length = 32
    /// The smallest number of bytes of a foreign secret (Standard Webhooks, "Signature scheme").
    private static let minimumLength = 24
    private static let maximumTextLength = 128
    private static let prefix = "whsec_"

    let bytes: [UInt8]

    package var description: String { Self.prefix + Base64.encode(bytes) }

    /// The signature of a message: `v1,` and an HMAC-SHA256 in base64 (Standard Webhooks, "Signature scheme").
    func signature(of content: [UInt8]) -> String {
        "v1," + Base64.encode(MessageAuthentication.hmac(.sha256, of: content, secret: bytes))
    }
}

extension WebhookSecret {
    /// - Parameter text: `whsec_` and the bytes in base64.
    /// - Returns: Nil for a text of another form.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.maximumTextLength,
            let bytes = Base64.decode(text.utf8.dropFirst(Self.prefix.utf8.count)), bytes.count >= Self.minimumLength
        else { return nil }
        self.bytes = bytes
    }
}

extension WebhookEndpoint {
    /// True if the endpoint receives the events of all apps, or the entry is about a purchase in its app.
    func receivesApp(of entry: AuditEntry) -> Bool {
        app.map { entry.app?.hasSameBytes(as: $0) ?? false } ?? true
    }

    /// The secrets that are valid at a moment, newest first.
    package func secrets(at moment: Timestamp) -> [WebhookSecret] {
        let previous = previousSecretEndsAt.flatMap { $0 > moment ? previousSecret : nil }
        return ([secret] + [previous].compactMap(\.self)).map(WebhookSecret.init)
    }
}

/// A change of a webhook by the team. The audit logs are those of users, and have none of these.
package struct WebhookChange: Hashable, Sendable {
    package enum Event: String, Sendable, CaseIterable, SQLConvertible {
        case added
        /// The detail is the new URL.
        case urlChanged
        /// The detail is the overlap of the secrets in seconds.
        case secretReplaced
        /// The authorization was set or removed. The detail is the word.
        case authorizationChanged
        /// The app or the types of the messages were changed. The detail is the app and the types.
        case filterChanged
        case removed
        /// A message was sent again. The detail is its identifier.
        case messageReplayed
        /// Several messages were sent again. The detail is their number.
        case messagesReplayed

        package var title: ChangeTitle {
            switch self {
            case .added: ChangeTitle("Added", korean: "추가")
            case .urlChanged: ChangeTitle("Another address", korean: "주소 변경")
            case .secretReplaced: ChangeTitle("Secret replaced", korean: "비밀 값 교체")
            case .authorizationChanged: ChangeTitle("Another authorization", korean: "인증 값 변경")
            case .filterChanged: ChangeTitle("Other messages", korean: "메시지 유형 변경")
            case .removed: ChangeTitle("Removed", korean: "삭제")
            case .messageReplayed: ChangeTitle("Message sent again", korean: "메시지 재전송")
            case .messagesReplayed: ChangeTitle("Messages sent again", korean: "메시지 여러 개 재전송")
            }
        }
    }

    package let event: Event
    package let happenedAt: Timestamp
    /// The identifier of the API key that acted, or `member NAME` for a person.
    package let changedBy: String
    package let detail: String?
}

extension WebhookService {
    /// The endpoints with due deliveries, in the order of their identifiers.
    ///
    /// Each endpoint has its own statement, which ends at the first due delivery. A join with the endpoints would make Citus copy all
    /// due deliveries between its nodes.
    package func dueEndpoints() async throws -> [WebhookEndpoint] {
        let now = clock.now()
        return try await ledger.read { transaction in
            let endpoints = try transaction.webhookEndpoints("ORDER BY endpoint_id")
            let queries = endpoints.map { endpoint in
                SQLQuery(
                    "SELECT 1 FROM webhook_delivery WHERE endpoint_id = $1 AND next_attempt_at <= $2 LIMIT 1",
                    [endpoint.identifier, now])
            }
            try transaction.database.prefetch(queries)
            return try zip(endpoints, queries).filter { try transaction.database.hasRow($1.sql, $1.arguments) }.map(\.0)
        }
    }
}

/// The statements on webhooks and their changes.
extension LedgerTransaction {
    /// Adds an endpoint.
    ///
    /// - Parameter maximum: The largest number of endpoints of an app, and of those for all apps.
    /// - Returns: False if there are already so many.
    package func add(_ endpoint: WebhookEndpoint, upTo maximum: Int) throws -> Bool {
        guard try hasPlaceForWebhook(ofApp: endpoint.app, upTo: maximum) else { return false }
        try database.insert(into: "webhook_endpoint", WebhookEndpoint.columns, [endpoint.sqlValues])
        return true
    }

    /// True if fewer endpoints than the maximum have an app; with nil, if fewer are for all apps.
    func hasPlaceForWebhook(ofApp app: String?, upTo maximum: Int) throws -> Bool {
        try webhookEndpoints().count { $0.app.map { ByteKey($0) } == app.map { ByteKey($0) } } < maximum
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
            [[endpoint, moment, identifier.bytes, event, key, detail]])
    }

    /// The last changes of a webhook, newest first.
    package func webhookChanges(of endpoint: String, limit: Int) throws -> [WebhookChange] {
        try database.rows(
            """
            SELECT event, happened_at, changed_by, detail FROM webhook_change WHERE endpoint_id = $1
            ORDER BY happened_at DESC, change_id DESC LIMIT $2
            """,
            [endpoint, limit]
        ) { row in
            WebhookChange(
                event: try row.next(), happenedAt: try row.next(), changedBy: try row.next(), detail: try row.next())
        }
    }
}

extension WebhookEndpoint {
    fileprivate static let columns = [
        "endpoint_id", "url", "format", "created_at", "created_by", "secret", "previous_secret",
        "previous_secret_ends_at", "authorization_value", "app", "types",
    ]

    /// The values of the columns, in their order.
    fileprivate var sqlValues: [any SQLConvertible] {
        [
            identifier, url, format, createdAt, createdBy, secret, previousSecret, previousSecretEndsAt,
            authorization?.value, app, types,
        ]
    }

    /// The endpoint in the next columns, which are `columns`.
    fileprivate init(_ row: inout ResultRow) throws {
        self.init(
            identifier: try row.next(), url: try row.next(), format: try row.next(), createdAt: try row.next(),
            createdBy: try row.next(), secret: try row.next(), previousSecret: try row.next(),
            previousSecretEndsAt: try row.next(),
            authorization: (try row.next() as String?).flatMap { WebhookAuthorization($0) }, app: try row.next(),
            types: try row.next())
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

extension Table {
    /// The endpoints. A removed endpoint stays until its deliveries are deleted. Deliveries have no foreign key to it, because
    /// each redemption would have to lock the endpoint. `app`: the bundle identifier of the only app whose events it receives; null
    /// for all events. `types`: the types of the only messages that it receives, with spaces between them; null for all.
    static let webhookEndpoint = Table(
        name: "webhook_endpoint", family: .everywhere,
        columns: [
            .text("endpoint_id"), .text("url"), .integer("created_at"), .text("created_by"),
            .blob("secret", count: 32), .blob("previous_secret", count: 32).optional,
            .integer("previous_secret_ends_at").optional, .integer("removed_at").optional, .text("format"),
            .text("authorization_value").optional, .text("app").optional, .text("types").optional,
        ],
        key: ["endpoint_id"], checks: ["(previous_secret IS NULL) = (previous_secret_ends_at IS NULL)"]
    )
    .takingBack(
        "previous_secret_ends_at", within: WebhookService.overlap.upperBound,
        setting: "previous_secret_ends_at = $1 + \(WebhookService.overlap.upperBound * 1000)", endsEarly: true)

    /// The changes of endpoints by back ends and people. They stay after the removal of the endpoint.
    static let webhookChange = Table(
        name: "webhook_change", family: .everywhere,
        columns: [
            .text("endpoint_id"), .integer("happened_at"), .blob("change_id", count: 16), .text("event"),
            .text("changed_by"), .text("detail").optional,
        ],
        key: ["endpoint_id", "happened_at", "change_id"])
}
