import Catalog
import Entitlements
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

    /// The answers about users, whose parts messages have, too.
    private let answers: Answers
    /// The system's clock. Receivers compare its time with theirs.
    let clock: any WallClock
    let randomness: Randomness
    /// True if receivers may be in networks that are not public.
    package let allowsPrivateAddresses: Bool
    /// The bundle identifier of the only app whose endpoints the caller sees and changes; nil for all endpoints.
    package private(set) var limitingApp: String?

    package var ledger: Ledger { answers.entitlements.ledger }

    /// A class because of its width (`CompilerBugTests`).
    private final class Answers: Sendable {
        let entitlements: EntitlementService
        let json: @Sendable (WebhookMessage.Content) throws -> [UInt8]

        init(
            _ entitlements: EntitlementService, _ json: @escaping @Sendable (WebhookMessage.Content) throws -> [UInt8]
        ) {
            (self.entitlements, self.json) = (entitlements, json)
        }
    }

    /// - Parameters:
    ///   - allowsPrivateAddresses: True if receivers may be in networks that are not public.
    ///   - json: Returns the JSON of a message's content, with the objects of the API's answers.
    package init(
        _ entitlements: EntitlementService, clock: any WallClock, randomness: Randomness = .system,
        allowsPrivateAddresses: Bool = false, json: @escaping @Sendable (WebhookMessage.Content) throws -> [UInt8]
    ) {
        answers = Answers(entitlements, json)
        (self.clock, self.randomness, self.allowsPrivateAddresses) = (clock, randomness, allowsPrivateAddresses)
    }

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
    ///   - app: The bundle identifier of the only app whose events it receives; nil for all. A caller of one app has that one.
    ///   - types: The types of the only messages that it receives; nil for all.
    ///   - key: The identifier of the caller's API key, or `member NAME` for a person.
    /// - Throws: `WebhookError`, `tooMany`, `appUnknown`.
    package func add(
        _ url: WebhookURL,
        format: WebhookFormat = .standard,
        authorization: WebhookAuthorization? = nil,
        app: String? = nil,
        types: WebhookTypes? = nil,
        by key: String
    ) async throws -> WebhookEndpoint {
        let app = try checked(app)
        let endpoint = WebhookEndpoint(
            identifier: "wh_" + randomness.bytes(12).hexadecimal, url: url.text, format: format, createdAt: clock.now(),
            createdBy: key, secret: randomness.bytes(WebhookSecret.length), authorization: authorization,
            app: app, types: types)
        return try await ledger.write { transaction in
            guard try transaction.add(endpoint, upTo: Self.maximumEndpoints) else { throw WebhookError.tooMany }
            try transaction.record(
                .added, of: endpoint.identifier, at: endpoint.createdAt, by: key, detail: nil)
            return endpoint
        }
    }

    /// The app of a filter, of those that the caller may name.
    ///
    /// - Parameter present: The app of the endpoint, which it may keep although the service no longer sells it.
    private func checked(_ app: String?, keeping present: String? = nil) throws(WebhookError) -> String? {
        guard let app = app ?? limitingApp else { return nil }
        let isKnown = answers.entitlements.apps[app] != nil || present?.hasSameBytes(as: app) ?? false
        guard isKnown, limitingApp?.hasSameBytes(as: app) ?? true else {
            throw .appUnknown(app)
        }
        return app
    }

    /// All endpoints that the caller sees, oldest first.
    package func endpoints() async throws -> [WebhookEndpoint] {
        try await ledger.read { try $0.webhookEndpoints() }.filter(isVisible)
    }

    private func isVisible(_ endpoint: WebhookEndpoint) -> Bool {
        limitingApp.map { endpoint.app?.hasSameBytes(as: $0) ?? false } ?? true
    }

    /// An endpoint that the caller sees.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    package func endpoint(_ identifier: String) async throws -> WebhookEndpoint {
        try await read(of: identifier) { $1 }
    }

    private func visible(_ identifier: String, _ transaction: LedgerTransaction) throws -> WebhookEndpoint {
        guard let found = try transaction.webhookEndpoint(identifier), isVisible(found) else {
            throw WebhookError.notFound
        }
        return found
    }

    /// Reads what belongs to an endpoint that the caller sees, in one snapshot.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    func read<Value: Sendable>(
        of identifier: String, _ body: @escaping @Sendable (LedgerTransaction, WebhookEndpoint) throws -> Value
    ) async throws -> Value {
        try await ledger.read { try body($0, try visible(identifier, $0)) }
    }

    /// Writes to an endpoint that the caller sees in the same transaction, so that nobody moves it to another app between the two.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    func write<Value: Sendable>(
        to identifier: String, _ body: @escaping @Sendable (LedgerTransaction, WebhookEndpoint) throws -> Value
    ) async throws -> Value {
        try await ledger.write { try body($0, try visible(identifier, $0)) }
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
    func record<Value: Sendable>(
        _ event: WebhookChange.Event,
        of identifier: String,
        by key: String,
        detail: String? = nil,
        or error: WebhookError = .notFound,
        _ change: @escaping @Sendable (LedgerTransaction, WebhookEndpoint) throws -> Value?
    ) async throws -> Value {
        let now = clock.now()
        return try await write(to: identifier) { transaction, endpoint in
            guard let value = try change(transaction, endpoint) else { throw error }
            try transaction.record(event, of: identifier, at: now, by: key, detail: detail)
            return value
        }
    }

    /// Changes what is named of an endpoint, in one transaction, also for pending messages.
    ///
    /// An endpoint of one app has no messages about anything else, which the keys for the app may not see: from the change on none is
    /// sent or listed, and they are deleted after it. They may read the secrets: an endpoint that goes to another app, or to all, has a
    /// new secret at once, and no authorization unless the change sets one.
    ///
    /// - Throws: `WebhookError`, `notFound`, `appUnknown`, `tooMany`. Then nothing is changed.
    package func change(
        _ identifier: String,
        url: WebhookURL? = nil,
        app: WebhookSetting<String> = .unchanged,
        types: WebhookSetting<WebhookTypes> = .unchanged,
        authorization: WebhookSetting<WebhookAuthorization> = .unchanged,
        by key: String
    ) async throws -> WebhookEndpoint {
        let (secret, now) = (randomness.bytes(WebhookSecret.length), clock.now())
        let changed = try await write(to: identifier) { transaction, present in
            var next = present
            var authorization = authorization
            var columns: [(name: String, value: any SQLConvertible)] = []
            var events: [(event: WebhookChange.Event, detail: String)] = []
            if let url {
                next.url = url.text
                columns.append(("url", next.url))
                events.append((.urlChanged, next.url))
            }
            if case .set(let app) = app {
                next.app = try checked(app, keeping: present.app)
                columns.append(("app", next.app))
            }
            if case .set(let types) = types {
                next.types = types
                columns.append(("types", types))
            }
            if app.isSet || types.isSet {
                let filter = [next.app, next.types?.description].compactMap(\.self)
                events.append((.filterChanged, filter.joined(separator: " ")))
            }
            if next.app.map({ ByteKey($0) }) != present.app.map({ ByteKey($0) }) {
                guard try transaction.hasPlaceForWebhook(ofApp: next.app, upTo: Self.maximumEndpoints) else {
                    throw WebhookError.tooMany
                }
                (next.secret, next.previousSecret, next.previousSecretEndsAt) = (secret, nil, nil)
                columns += [
                    ("secret", secret), ("previous_secret", next.previousSecret),
                    ("previous_secret_ends_at", next.previousSecretEndsAt),
                ]
                events.append((.secretReplaced, "0"))
                if !authorization.isSet, present.authorization != nil { authorization = .set(nil) }
            }
            if case .set(let authorization) = authorization {
                next.authorization = authorization
                columns.append(("authorization_value", authorization?.value))
                events.append((.authorizationChanged, authorization == nil ? "removed" : "set"))
            }
            guard !columns.isEmpty else { return present }
            let settings = columns.enumerated().map { "\($1.name) = $\($0 + 1)" }.joined(separator: ", ")
            try transaction.database.execute(
                "UPDATE webhook_endpoint SET \(settings) WHERE endpoint_id = $\(columns.count + 1)",
                columns.map(\.value) + [identifier])
            for (event, detail) in events {
                try transaction.record(event, of: identifier, at: now, by: key, detail: detail)
            }
            return next
        }
        // Also if the app is the same one, so that a repetition ends a deletion that was interrupted.
        while app.isSet,
            try await ledger.write({
                try $0.deleteExcludedWebhookDeliveries(to: identifier, limit: Self.changedAtOnce)
            }) == Self.changedAtOnce
        {}
        return changed
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
        let (secret, now) = (randomness.bytes(WebhookSecret.length), clock.now())
        let end = now.adding(seconds: seconds)
        return try await record(
            .secretReplaced, of: identifier, by: key, detail: String(seconds), or: .secretBeingReplaced
        ) { transaction, present in
            // A receiver that has only the previous secret would have no valid one.
            guard seconds == 0 || present.secrets(at: now).count == 1,
                try transaction.replace(present.secret, with: secret, ending: end, ofWebhookEndpoint: identifier)
            else { return nil }
            var replaced = present
            (replaced.secret, replaced.previousSecret, replaced.previousSecretEndsAt) = (secret, present.secret, end)
            return replaced
        }
    }

    /// Removes an endpoint. Its deliveries end, and `deleteExpired` deletes them.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    package func remove(_ identifier: String, by key: String) async throws {
        _ = try await record(.removed, of: identifier, by: key) { transaction, _ in
            try transaction.database.execute(
                "UPDATE webhook_endpoint SET removed_at = $1 WHERE endpoint_id = $2 AND removed_at IS NULL",
                [clock.now(), identifier]) == 1 ? identifier : nil
        }
    }
}

extension WebhookService {
    /// Sends the latest messages about a user again. Messages that are already waiting stay as they are.
    ///
    /// - Parameter identifier: The only webhook; nil for all.
    /// - Returns: The number of messages, at most `changedAtOnce`.
    /// - Throws: `WebhookError`, `notFound`.
    package func replay(about user: User, to identifier: String? = nil, by key: String) async throws -> Int {
        try await ledger.write { transaction in
            var total = 0
            let now = clock.now()
            let endpoints =
                try identifier.map { [try visible($0, transaction)] } ?? transaction.webhookEndpoints()
            let limit = Self.changedAtOnce / max(endpoints.count, Self.maximumEndpoints)
            for endpoint in endpoints.map(\.identifier) {
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
    /// The state of the user, and an event of RevenueCat, are as of now. Later attempts may know more.
    package func contents(
        of deliveries: [WebhookDelivery],
        to endpoint: WebhookEndpoint
    ) async throws -> [WebhookContent?] {
        try await contents(of: deliveries, to: endpoint, stating: endpoint.format.statesItems)
    }

    /// The types of the messages of deliveries, each nil for an event without a message.
    package func types(of deliveries: [WebhookDelivery], to endpoint: WebhookEndpoint) async throws -> [String?] {
        try await contents(of: deliveries, to: endpoint, stating: false).map { $0?.type }
    }

    /// - Parameter statesItems: True for contents with the state of the user.
    private func contents(
        of deliveries: [WebhookDelivery], to endpoint: WebhookEndpoint, stating statesItems: Bool
    ) async throws -> [WebhookContent?] {
        let (entitlements, now) = (answers.entitlements.limited(to: endpoint.app), clock.now())
        let catalogs = entitlements.catalogs
        return try await ledger.read { transaction in
            var states: [User: WebhookState] = [:]
            return try deliveries.map { delivery in
                if endpoint.format == .revenueCat {
                    return RevenueCatEvent(try transaction.revenueCatFacts(of: delivery, catalogs, at: now))
                        .map { .revenueCat($0) }
                }
                let types = delivery.entry.event.rule.messages
                guard let first = types.first else { return nil }
                let type =
                    types.count == 1
                    ? first : MessageType(try transaction.revenueCatFacts(of: delivery, catalogs, at: now))
                // A damaged name has no items.
                let user = statesItems ? User(issuer: delivery.issuer, name: delivery.name) : nil
                if let user, states[user] == nil {
                    let view = try entitlements.view(of: user, transaction)
                    states[user] = WebhookState(
                        items: try transaction.ownedItems(of: user, from: view),
                        subscriptions: try transaction.subscriptions(of: user, from: view))
                }
                return .till(WebhookMessage(type, delivery, user.flatMap { states[$0] }))
            }
        }
    }

    /// The content of a delivery; nil for an event without a message.
    package func content(of delivery: WebhookDelivery, to endpoint: WebhookEndpoint) async throws -> WebhookContent? {
        try await contents(of: [delivery], to: endpoint)[0]
    }

    /// The signed message of a delivery, for an attempt now.
    package func signed(_ delivery: WebhookDelivery, for endpoint: WebhookEndpoint) async throws -> SignedWebhook? {
        let body = try await body(of: delivery, to: endpoint)
        let now = clock.now()
        return body.map {
            SignedWebhook(
                $0, identifier: delivery.messageIdentifier, secrets: endpoint.secrets(at: now),
                authorization: endpoint.authorization, as: endpoint.format.mediaType, at: now)
        }
    }

    /// The body of a delivery in the format of its endpoint; nil for an event without a message.
    private func body(of delivery: WebhookDelivery, to endpoint: WebhookEndpoint) async throws -> [UInt8]? {
        switch try await content(of: delivery, to: endpoint) {
        case .till(let message)?:
            let entry = delivery.entry
            let words = [message.type.rawValue] + (entry.origin?.isSandbox == true ? ["sandbox"] : [])
            return endpoint.format.body(
                of: WebhookNotice(
                    identifier: delivery.messageIdentifier, type: message.type.rawValue,
                    happenedAt: message.happenedAt, app: entry.app, reference: entry.reference,
                    data: try answers.json(message.data),
                    // The user chose the name, which could continue the sentence without its quotes.
                    sentence:
                        "“\(delivery.name)”: \(entry.event.rule.sentence(entry)) (\(words.joined(separator: ", ")))"))
        case .revenueCat(let event)?: return Array(event.text.utf8)
        case nil: return nil
        }
    }

    /// A signed message of the type `test`, of RevenueCat's format `TEST`. It reports no change, and belongs to no delivery.
    package func testMessage(for endpoint: WebhookEndpoint) -> SignedWebhook {
        let (now, identifier) = (clock.now(), "msg_" + randomness.bytes(16).hexadecimal)
        let notice = WebhookNotice(
            identifier: identifier, type: "test", happenedAt: now,
            sentence: "This test message of Till reports no change.")
        return SignedWebhook(
            endpoint.format.body(of: notice), identifier: identifier, secrets: endpoint.secrets(at: now),
            authorization: endpoint.authorization, as: endpoint.format.mediaType, at: now)
    }

    /// The message of a delivery as it would be sent now, for people who see neither a signature nor the authorization.
    package func unsigned(_ delivery: WebhookDelivery, for endpoint: WebhookEndpoint) async throws -> SignedWebhook? {
        try await body(of: delivery, to: endpoint).map {
            SignedWebhook(
                $0, identifier: delivery.messageIdentifier, secrets: [],
                authorization: endpoint.authorization.flatMap { _ in WebhookAuthorization("hidden") },
                as: endpoint.format.mediaType, at: clock.now())
        }
    }
}

/// A signed message in the format of Standard Webhooks (version 1).
package struct SignedWebhook: Sendable {
    package let body: [UInt8]
    package let mediaType: String
    /// The headers: `authorization` if the endpoint has one, then those of Standard Webhooks. `webhook-id` is the same in each
    /// attempt, `webhook-timestamp` is the time of the attempt, and `webhook-signature` has a signature for each valid secret.
    package let headers: [(name: String, value: String)]

    package static let json = "application/json"

    /// A message without headers, whose body has a signature of its own.
    init(unsigned body: [UInt8]) {
        (self.body, mediaType) = (body, Self.json)
        headers = []
    }

    /// - Parameter moment: The time of the attempt. The header has it in seconds since 1970.
    package init(
        _ body: [UInt8],
        identifier: String,
        secrets: [WebhookSecret],
        authorization: WebhookAuthorization? = nil,
        as mediaType: String = Self.json,
        at moment: Timestamp
    ) {
        (self.body, self.mediaType) = (body, mediaType)
        let seconds = String(moment.secondsSince1970)
        let content = Array("\(identifier).\(seconds).".utf8) + body
        headers =
            (authorization.map { [("authorization", $0.value)] } ?? []) + [
                ("webhook-id", identifier), ("webhook-timestamp", seconds),
                ("webhook-signature", secrets.map { $0.signature(of: content) }.joined(separator: " ")),
            ]
    }
}

package enum WebhookError: RuledError, Equatable {
    /// The reason completes the sentence "The URL of a webhook must …".
    case urlInvalid(reason: String)
    case addressPrivate
    case tooMany
    case notFound
    case messageNotFound
    case secretBeingReplaced
    case typeUnknown(String, of: WebhookFormat)
    case appUnknown(String)

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
                "There are already \(WebhookService.maximumEndpoints) webhooks for the app, or for all apps. Remove one first.",
                korean: "그 앱이나 모든 앱의 웹훅이 이미 한도만큼 있습니다. 먼저 하나를 삭제하세요.")
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
        case .typeUnknown(let type, let format):
            ErrorRule(
                "webhookTypeUnknown", .unprocessable, hasReason: true,
                "The format \(format.rawValue) has no type \"\(type)\". Name types from "
                    + "\(format.types.joined(separator: ", ")).",
                korean: "이 형식에 없는 메시지 유형입니다.")
        case .appUnknown(let app):
            ErrorRule(
                "webhookAppUnknown", .unprocessable, hasReason: true,
                "The service sells no app \"\(app)\" that this caller may name. Name the bundle identifier of one that it sells.",
                korean: "이 서비스가 판매하지 않거나 이 호출자가 지정할 수 없는 앱입니다.")
        }
    }
}
