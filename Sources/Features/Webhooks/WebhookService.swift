import Catalog
import Ledger
import Proofs
import Vocabulary

/// The use cases of webhooks, which report the changes of users' purchases to the team's back ends.
package struct WebhookService: Sendable {
    static let maximumEndpoints = 10
    /// The allowed overlap of a replaced secret with the new one, in seconds.
    package static let overlap: ClosedRange<Int64> = 0...7 * 86_400
    /// The default overlap, in seconds.
    package static let standardOverlap: Int64 = 86_400

    package let ledger: Ledger
    /// The apps whose catalogs name the rights in messages.
    let apps: Apps
    /// The system's clock. Receivers compare its time with theirs.
    let clock: any WallClock
    let randomness: Randomness
    /// True if receivers may be in networks that are not public.
    package let allowsPrivateAddresses: Bool
    /// The bundle identifier of the only app whose endpoints the caller sees and changes; nil for all endpoints.
    private(set) var limitingApp: String?

    /// The same service for a caller who sees and changes only the endpoints of one app.
    ///
    /// - Parameter app: The bundle identifier; nil for a caller of all apps.
    package func limited(to app: String?) -> WebhookService {
        var service = self
        service.limitingApp = app
        return service
    }

    package func now() -> Timestamp { clock.now() }

    /// Adds an endpoint, which receives all later events.
    ///
    /// - Parameters:
    ///   - authorization: The header `Authorization` of each message; nil for none.
    ///   - key: The identifier of the caller's API key, or `member NAME` for a person.
    /// - Throws: `WebhookError`, `tooMany`.
    package func add(
        _ url: WebhookURL,
        format: WebhookFormat = .till,
        authorization: WebhookAuthorization? = nil,
        by key: String
    ) async throws -> WebhookEndpoint {
        let endpoint = WebhookEndpoint(
            identifier: "wh_" + randomness.bytes(12).hexadecimal, url: url.text, format: format, createdAt: clock.now(),
            createdBy: key, secret: randomness.bytes(WebhookSecret.length), authorization: authorization,
            app: limitingApp)
        return try await record(.added, of: endpoint.identifier, by: key, or: .tooMany) {
            try $0.add(endpoint, upTo: Self.maximumEndpoints) ? endpoint : nil
        }
    }

    /// All endpoints that the caller sees, oldest first.
    package func endpoints() async throws -> [WebhookEndpoint] {
        try await ledger.read { try $0.webhookEndpoints() }.filter(isVisible)
    }

    private func isVisible(_ endpoint: WebhookEndpoint) -> Bool {
        limitingApp.map { endpoint.app?.hasSameBytes(as: $0) ?? false } ?? true
    }

    /// An endpoint that the caller sees. Each use case reads it first; its app never changes.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    package func endpoint(_ identifier: String) async throws -> WebhookEndpoint {
        let found = try await ledger.read { try $0.webhookEndpoint(identifier) }
        guard let found, isVisible(found) else { throw WebhookError.notFound }
        return found
    }

    /// The last changes of an endpoint by the team, newest first, also of a removed one. Only people of the team ask for them.
    package func changes(of identifier: String, limit: Int) async throws -> [WebhookChange] {
        try await ledger.read { try $0.webhookChanges(of: identifier, limit: limit) }
    }

    /// Makes a change of an endpoint that the caller sees, and records it in the same transaction.
    ///
    /// - Parameters:
    ///   - error: The error if nothing was changed.
    ///   - change: Returns nil if nothing was changed. Then nothing is recorded.
    /// - Throws: `WebhookError`, `notFound`; the error if nothing was changed.
    func change<Value: Sendable>(
        _ identifier: String,
        _ event: WebhookChange.Event,
        by key: String,
        detail: String? = nil,
        or error: WebhookError = .notFound,
        _ change: @escaping @Sendable (LedgerTransaction) throws -> Value?
    ) async throws -> Value {
        _ = try await endpoint(identifier)
        return try await record(event, of: identifier, by: key, detail: detail, or: error, change)
    }

    private func record<Value: Sendable>(
        _ event: WebhookChange.Event,
        of identifier: String,
        by key: String,
        detail: String? = nil,
        or error: WebhookError,
        _ change: @escaping @Sendable (LedgerTransaction) throws -> Value?
    ) async throws -> Value {
        let now = clock.now()
        return try await ledger.write { transaction in
            guard let value = try change(transaction) else { throw error }
            try transaction.record(event, of: identifier, at: now, by: key, detail: detail)
            return value
        }
    }

    /// - Throws: `WebhookError`, `notFound`.
    package func setURL(_ url: WebhookURL, of identifier: String, by key: String) async throws -> WebhookEndpoint {
        try await set("url", url.text, of: identifier, .urlChanged, detail: url.text, by: key)
    }

    /// Sets the header `Authorization` of an endpoint's messages.
    ///
    /// - Parameter authorization: Nil for none.
    /// - Throws: `WebhookError`, `notFound`.
    package func setAuthorization(
        _ authorization: WebhookAuthorization?,
        of identifier: String,
        by key: String
    ) async throws -> WebhookEndpoint {
        try await set(
            "authorization_value", authorization?.value, of: identifier, .authorizationChanged,
            detail: authorization == nil ? "removed" : "set", by: key)
    }

    /// Sets a column of an endpoint, also for pending deliveries.
    private func set(
        _ column: String, _ value: String?, of identifier: String, _ event: WebhookChange.Event, detail: String,
        by key: String
    ) async throws -> WebhookEndpoint {
        try await change(identifier, event, by: key, detail: detail) { transaction in
            try transaction.database.execute(
                "UPDATE webhook_endpoint SET \(column) = $1 WHERE endpoint_id = $2 AND removed_at IS NULL",
                [value, identifier])
            return try transaction.webhookEndpoint(identifier)
        }
    }

    /// Replaces an endpoint's secret. Both secrets sign messages during the overlap.
    ///
    /// - Parameter seconds: The overlap. With 0, all previous secrets end now.
    /// - Throws: `WebhookError`, `notFound`, `secretBeingReplaced`.
    package func replaceSecret(
        of identifier: String,
        keepingPreviousFor seconds: Int64,
        by key: String
    ) async throws -> WebhookEndpoint {
        let (present, now) = (try await endpoint(identifier), clock.now())
        // A receiver that has only the previous secret would have no valid one.
        guard seconds == 0 || present.secrets(at: now).count == 1 else { throw WebhookError.secretBeingReplaced }
        var replaced = present
        replaced.secret = randomness.bytes(WebhookSecret.length)
        let end = now.adding(seconds: seconds)
        (replaced.previousSecret, replaced.previousSecretEndsAt) = (present.secret, end)
        // Nothing is changed if another caller replaced the secret meanwhile.
        return try await record(
            .secretReplaced, of: identifier, by: key, detail: String(seconds), or: .secretBeingReplaced
        ) { [replaced] in
            try $0.replace(present.secret, with: replaced.secret, ending: end, ofWebhookEndpoint: identifier)
                ? replaced : nil
        }
    }

    /// Removes an endpoint. Its deliveries end, and `deleteExpired` deletes them.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    package func remove(_ identifier: String, by key: String) async throws {
        _ = try await change(identifier, .removed, by: key) {
            try $0.database.execute(
                "UPDATE webhook_endpoint SET removed_at = $1 WHERE endpoint_id = $2 AND removed_at IS NULL",
                [clock.now(), identifier]) == 1 ? identifier : nil
        }
    }
}

extension Ledger {
    /// The webhooks of the ledger, for the rights of some apps.
    ///
    /// - Parameter allowsPrivateAddresses: True if receivers may be in networks that are not public.
    package func webhooks(
        of apps: Apps, clock: any WallClock, randomness: Randomness = .system, allowsPrivateAddresses: Bool = false
    ) -> WebhookService {
        WebhookService(
            ledger: self, apps: apps, clock: clock, randomness: randomness,
            allowsPrivateAddresses: allowsPrivateAddresses)
    }
}

extension WebhookService {
    /// Sends the latest messages about a user again. Messages that are already waiting stay as they are.
    ///
    /// - Parameter identifier: The only webhook; nil for all.
    /// - Returns: The number of messages, at most `changedAtOnce`.
    /// - Throws: `WebhookError`, `notFound`.
    package func replay(about user: User, to identifier: String? = nil, by key: String) async throws -> Int {
        if let identifier { _ = try await endpoint(identifier) }
        return try await ledger.write { transaction in
            var total = 0
            let now = clock.now()
            let endpoints = try identifier.map { [$0] } ?? transaction.webhookEndpoints().map(\.identifier)
            let limit = Self.changedAtOnce / max(endpoints.count, Self.maximumEndpoints)
            for endpoint in endpoints {
                let count = try transaction.replayWebhooks(about: user, to: endpoint, limit: limit)
                try transaction.recordReplay(of: count, to: endpoint, at: now, by: key)
                total += count
            }
            return total
        }
    }
}

/// The messages of deliveries, in the format of their endpoint.
extension WebhookService {
    /// The contents of deliveries, each nil for an event without a message. No version writes such a delivery.
    ///
    /// An event of RevenueCat states facts of the ledger, as of now. Later attempts may know more.
    package func contents(
        of deliveries: [WebhookDelivery],
        to endpoint: WebhookEndpoint
    ) async throws -> [WebhookContent?] {
        switch endpoint.format {
        case .till:
            return deliveries.map { WebhookMessage($0).map { .till($0) } }
        case .revenueCat:
            let (catalogs, now) = (apps.catalogs, clock.now())
            return try await ledger.read { transaction in
                try deliveries.map { delivery in
                    RevenueCatEvent(try transaction.revenueCatFacts(of: delivery, catalogs, at: now))
                        .map { .revenueCat($0) }
                }
            }
        }
    }

    /// The content of a delivery; nil for an event without a message.
    package func content(of delivery: WebhookDelivery, to endpoint: WebhookEndpoint) async throws -> WebhookContent? {
        try await contents(of: [delivery], to: endpoint)[0]
    }

    /// The signed message of a delivery, for an attempt now.
    package func signed(_ delivery: WebhookDelivery, for endpoint: WebhookEndpoint) async throws -> SignedWebhook? {
        let content = try await content(of: delivery, to: endpoint)
        let now = clock.now()
        return try content.map {
            SignedWebhook(
                try $0.body(), identifier: delivery.messageIdentifier, secrets: endpoint.secrets(at: now),
                authorization: endpoint.authorization, at: now)
        }
    }

    /// A signed message of the type `test`, of RevenueCat's format `TEST`. It reports no change, and belongs to no delivery.
    package func testMessage(for endpoint: WebhookEndpoint) -> SignedWebhook {
        let (now, identifier) = (clock.now(), "msg_" + randomness.bytes(16).hexadecimal)
        let content: JSONValue =
            switch endpoint.format {
            case .till: .object(["type": "test", "timestamp": .string(now.rfc3339), "data": .object([:])])
            case .revenueCat:
                .object([
                    "api_version": "1.0",
                    "event": .object([
                        "type": "TEST", "id": .string(identifier),
                        "event_timestamp_ms": .integer(now.millisecondsSince1970),
                    ]),
                ])
            }
        return SignedWebhook(
            Array(content.compactText.utf8), identifier: identifier, secrets: endpoint.secrets(at: now),
            authorization: endpoint.authorization, at: now)
    }

    /// The message of a delivery as it would be sent now, for people who see neither a signature nor the authorization.
    package func unsigned(_ delivery: WebhookDelivery, for endpoint: WebhookEndpoint) async throws -> SignedWebhook? {
        try await content(of: delivery, to: endpoint).map {
            SignedWebhook(
                try $0.body(), identifier: delivery.messageIdentifier, secrets: [],
                authorization: endpoint.authorization.flatMap { _ in WebhookAuthorization("hidden") }, at: clock.now())
        }
    }
}

/// A signed message in the format of Standard Webhooks (version 1).
package struct SignedWebhook: Sendable {
    package let body: [UInt8]
    /// The headers: `authorization` if the endpoint has one, then those of Standard Webhooks. `webhook-id` is the same in each
    /// attempt, `webhook-timestamp` is the time of the attempt, and `webhook-signature` has a signature for each valid secret.
    package let headers: [(name: String, value: String)]

    /// A message without headers, whose body has a signature of its own.
    init(unsigned body: [UInt8]) {
        self.body = body
        headers = []
    }

    /// - Parameter moment: The time of the attempt. The header has it in seconds since 1970.
    package init(
        _ body: [UInt8],
        identifier: String,
        secrets: [WebhookSecret],
        authorization: WebhookAuthorization? = nil,
        at moment: Timestamp
    ) {
        self.body = body
        let seconds = String(moment.secondsSince1970)
        let content = Array("\(identifier).\(seconds).".utf8) + body
        headers =
            (authorization.map { [("authorization", $0.value)] } ?? []) + [
                ("webhook-id", identifier), ("webhook-timestamp", seconds),
                ("webhook-signature", secrets.map { $0.signature(of: content) }.joined(separator: " ")),
            ]
    }
}

/// The error of a use case of webhooks.
package enum WebhookError: RuledError, Equatable {
    /// The reason completes the sentence "The URL of a webhook must …".
    case urlInvalid(reason: String)
    case addressPrivate
    case tooMany
    case notFound
    case messageNotFound
    case secretBeingReplaced

    package var rule: ErrorRule {
        switch self {
        case .urlInvalid(let reason):
            ErrorRule(
                "webhookURLInvalid", .unprocessable, hasReason: true, "The URL of a webhook must \(reason).",
                korean: "웹훅의 URL이 올바르지 않습니다.")
        case .addressPrivate:
            ErrorRule(
                "webhookAddressPrivate", .unprocessable,
                "The address of the webhook is not public. Choose another URL, or allow such addresses with "
                    + "`webhook-private-addresses`.",
                korean: "웹훅의 주소가 공개 주소가 아닙니다. 다른 URL을 고르거나, `webhook-private-addresses`로 허용하세요.")
        case .tooMany:
            ErrorRule(
                "webhooksTooMany", .conflict,
                "There are already \(WebhookService.maximumEndpoints) webhooks. Remove one first.",
                korean: "웹훅이 이미 한도만큼 있습니다. 먼저 하나를 삭제하세요.")
        case .notFound:
            ErrorRule(
                "webhookNotFound", .notFound, "There is no webhook with this identifier.",
                korean: "이 식별자의 웹훅이 없습니다.")
        case .messageNotFound:
            ErrorRule(
                "webhookMessageNotFound", .notFound, "The webhook has no message with this identifier.",
                korean: "웹훅에 이 식별자의 메시지가 없습니다.")
        case .secretBeingReplaced:
            ErrorRule(
                "webhookSecretBeingReplaced", .conflict, mayRetry: true,
                "The secret is being replaced, and the previous one is still valid. Wait until it ends, or set "
                    + "`previousSecretSeconds` to 0 to end it now.",
                korean: "비밀 값을 교체하는 중이며, 이전 값이 아직 유효합니다. 이전 값의 기간이 끝날 때까지 기다리세요.")
        }
    }
}
