import Entitlements
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// Routes for webhooks: endpoints, secrets and deliveries.
struct WebhookRoutes: OperationGroup {
    static let tag = APIOperation.webhooks
    static let optional = [OptionalOperations(option: "--webhooks", operations: operations)]
    let parts: ServiceParts
    private let webhooks: WebhookService

    init?(parts: ServiceParts) {
        guard let webhooks = parts.till.webhooks else { return nil }
        (self.parts, self.webhooks) = (parts, webhooks)
    }

    /// Caches must not store secrets.
    private static let headers: HTTPFields = [.cacheControl: "no-store"]

    /// A request about webhooks, with those that its caller sees and changes.
    ///
    /// A class: Swift 6.3.1 crashes while it compiles a route that keeps a copy as wide as these parts while it waits.
    private final class Call: Sendable {
        let webhooks: WebhookService
        let request: Request
        let context: ServiceContext

        init(_ webhooks: WebhookService, _ request: Request, _ context: ServiceContext) {
            self.webhooks = webhooks.limited(to: context.caller?.limitingApp)
            self.request = request
            self.context = context
        }

        /// The identifier of the webhook in the path.
        var identifier: String { get throws { try context.parameters.text("webhook") } }

        var key: String { get throws { try context.requiredCaller.name } }

        func body(of operation: APIOperation) async throws -> JSONBody {
            try await JSONBody(request, context, of: operation)
        }

        /// The body of an operation that needs none; nil for an empty one.
        func optionalBody(of operation: APIOperation) async throws -> JSONBody? {
            let bytes = try await RequestBytes.collect(request, context, upTo: JSONBody.standardSize)
            return bytes.isEmpty ? nil : try await JSONBody(bytes: bytes, fields: operation.bodyFields)
        }

        /// The app of a body; nil for all apps that the caller may name.
        func app(_ body: JSONBody) throws(Problem) -> String? {
            guard case .text(let app) = try body.optionalText("app", upTo: RequestedApps.maximumLength) else {
                return nil
            }
            if let own = webhooks.limitingApp, !own.hasSameBytes(as: app) { throw .appForbidden(own) }
            return app
        }

        func answer(_ endpoint: WebhookEndpoint) async throws -> Response {
            try ListedWebhook(endpoint: endpoint).answer(naming: try await webhooks.ledger.apiKeyNames())
        }

        func secrets(of endpoint: WebhookEndpoint) throws -> Response {
            try WebhookSecrets(endpoint, at: webhooks.now()).answer(headers: WebhookRoutes.headers)
        }
    }

    func add(to group: RouterGroup<ServiceContext>) {
        func on(_ operation: APIOperation, _ answer: @escaping @Sendable (Call) async throws -> Response) {
            group.on(operation) { request, context in try await answer(Call(webhooks, request, context)) }
        }
        on(.listWebhooks) { call in
            let keys = try await call.webhooks.ledger.apiKeyNames()
            return try List(try await call.webhooks.endpoints().map { ListedWebhook(endpoint: $0) }).answer(
                naming: keys)
        }
        on(.addWebhook) { call in
            let body = try await call.body(of: .addWebhook)
            let (url, format, authorization) = (try url(body), try Self.format(body), try Self.authorization(body))
            let (app, types) = (try call.app(body), try Self.types(body, of: format))
            let keys = try await call.webhooks.ledger.apiKeyNames()
            let endpoint = try await call.webhooks.add(
                url, format: format, authorization: authorization, app: app, types: types, by: try call.key)
            return try ListedWebhook(endpoint: endpoint, moment: call.webhooks.now())
                .answer(naming: keys, status: .created, headers: Self.headers)
        }
        on(.getWebhook) { call in try await call.answer(try await call.webhooks.endpoint(try call.identifier)) }
        on(.changeWebhook) { call in try await change(call, try await call.body(of: .changeWebhook)) }
        on(.removeWebhook) { call in
            try await call.webhooks.remove(try call.identifier, by: try call.key)
            return Response(status: .noContent)
        }
        on(.getWebhookSecret) { call in
            try call.secrets(of: try await call.webhooks.endpoint(try call.identifier))
        }
        on(.replaceWebhookSecret) { call in
            let identifier = try call.identifier
            let given = try await call.optionalBody(of: .replaceWebhookSecret)?.optionalInteger("previousSecretSeconds")
            let seconds = given.map(Int64.init) ?? WebhookService.standardOverlap
            guard WebhookService.overlap.contains(seconds) else {
                throw JSONBody.invalid(
                    "The field /previousSecretSeconds must be a number from 0 to \(WebhookService.overlap.upperBound).")
            }
            return try call.secrets(
                of: try await call.webhooks.replaceSecret(
                    of: identifier, keepingPreviousFor: seconds, by: try call.key))
        }
        on(.setWebhookAuthorization) { call in
            let identifier = try call.identifier
            let body = try await call.body(of: .setWebhookAuthorization)
            guard body.object["authorization"] != nil else {
                throw JSONBody.invalid("The field /authorization is missing; null removes the header.")
            }
            return try await call.answer(
                try await call.webhooks.change(
                    identifier, authorization: .set(try Self.authorization(body)), by: try call.key))
        }
        on(.testWebhook) { call in
            let webhooks = call.webhooks
            let outcome = try await webhooks.sendTest(to: try await webhooks.endpoint(try call.identifier))
            return try WebhookDelivery.Attempt(of: outcome, at: webhooks.now()).answer()
        }
        on(.listWebhookDeliveries) { call in
            try await Self.deliveries(call, about: try subjects.user(namedInQueryOf: call.request))
        }
        on(.replayWebhookDeliveries) { call in try await Self.replay(call, naming: subjects).answer() }
        on(.replayWebhookDelivery) { call in
            let (webhooks, identifier) = (call.webhooks, try call.identifier)
            let message = try call.context.parameters.text("message")
            let delivery = try await webhooks.replay(message, to: identifier, by: try call.key)
            let content = try await webhooks.content(of: delivery, to: try await webhooks.endpoint(identifier))
            return try ListedDelivery(delivery: delivery, content: content).answer()
        }
    }

    private func change(_ call: Call, _ body: JSONBody) async throws -> Response {
        func setting<Value>(
            _ field: String, _ value: @autoclosure () throws -> Value?
        ) rethrows -> WebhookSetting<Value> {
            body.object[field] == nil ? .unchanged : .set(try value())
        }
        let (webhooks, key) = (call.webhooks, try call.key)
        // The format decides which types there are. It never changes.
        let endpoint = try await webhooks.endpoint(try call.identifier)
        guard APIOperation.changeWebhook.bodyFields.contains(where: { body.object[$0] != nil }) else {
            throw JSONBody.invalid("The body must have /url, /app, /types or /authorization.")
        }
        return try await call.answer(
            try await webhooks.change(
                endpoint.identifier, url: body.object["url"] == nil ? nil : try url(body),
                app: try setting("app", try call.app(body)),
                types: try setting("types", try Self.types(body, of: endpoint.format)),
                authorization: try setting("authorization", try Self.authorization(body)), by: key))
    }

    private static func replay(_ call: Call, naming subjects: Subjects) async throws -> WebhookReplay {
        let (webhooks, identifier, key) = (call.webhooks, try call.identifier, try call.key)
        guard let body = try await call.optionalBody(of: .replayWebhookDeliveries), !body.object.members.isEmpty else {
            return WebhookReplay(replayed: try await webhooks.replayFailed(to: identifier, by: key))
        }
        if body.object["user"] != nil {
            let user = try subjects.user(namedIn: body)
            return WebhookReplay(replayed: try await webhooks.replay(about: user, to: identifier, by: key))
        }
        guard let start = try body.optionalDate("from"), let end = try body.optionalDate("until"), start < end else {
            throw JSONBody.invalid("The body must name a user, or a period whose /until is later than its /from.")
        }
        let replayed = try await webhooks.replay(to: identifier, from: start, until: end, by: key)
        return WebhookReplay(replayed: replayed.count, continuesAt: replayed.last?.happenedAt)
    }

    /// - Parameter user: The only user; nil for all deliveries of a state.
    private static func deliveries(_ call: Call, about user: User?) async throws -> Response {
        let (webhooks, identifier) = (call.webhooks, try call.identifier)
        let state = try call.request.query("state", as: WebhookDelivery.State.self)
        let page = try RequestedPage(call.request)
        guard user == nil || state == nil else {
            throw Problem.parameter("state", "left out beside the parameter user")
        }
        let (shown, next) =
            if let user {
                try await page.list(at: WebhookDeliveryNumber.init) {
                    try await webhooks.deliveries(to: identifier, about: user, before: $0, limit: $1)
                }
            } else {
                try await page.list(at: WebhookDeliveryPosition.init) {
                    try await webhooks.deliveries(to: identifier, in: state, before: $0, limit: $1)
                }
            }
        let contents = try await webhooks.contents(of: shown, to: try await webhooks.endpoint(identifier))
        return try List(
            zip(shown, contents).map { ListedDelivery(delivery: $0, content: $1) }, nextCursor: next
        ).answer()
    }

    private static func format(_ body: JSONBody) throws(Problem) -> WebhookFormat {
        guard case .text(let text) = try body.optionalText("format") else { return .standard }
        guard let format = WebhookFormat(rawValue: text) else {
            let formats = WebhookFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw JSONBody.invalid("The field /format must be one of \(formats).")
        }
        return format
    }

    /// - Returns: Nil if the field is missing or null.
    private static func types(_ body: JSONBody, of format: WebhookFormat) throws -> WebhookTypes? {
        switch body.object["types"] {
        case nil, .null: return nil
        case .array(let values)?:
            let names = values.compactMap { if case .string(let name) = $0 { name } else { nil } }
            guard !names.isEmpty, names.count == values.count else { fallthrough }
            return try WebhookTypes(names, of: format)
        default: throw JSONBody.invalid("The field /types must be null or an array of types of messages.")
        }
    }

    /// - Returns: Nil if the field is missing or null.
    private static func authorization(_ body: JSONBody) throws(Problem) -> WebhookAuthorization? {
        let field = try body.optionalText("authorization", upTo: WebhookAuthorization.maximumLength)
        guard case .text(let text) = field else { return nil }
        guard let authorization = WebhookAuthorization(text) else {
            throw JSONBody.invalid(
                "The field /authorization must be 1 to \(WebhookAuthorization.maximumLength) printable ASCII characters, "
                    + "without a space at its ends.")
        }
        return authorization
    }

    private func url(_ body: JSONBody) throws -> WebhookURL {
        let text = try body.text("url", upTo: WebhookURL.maximumLength)
        return try WebhookURL(receiver: text, allowsPrivate: webhooks.allowsPrivateAddresses)
    }
}

struct ListedWebhook: AnswerObject, Listed {
    static let listName = "webhooks"
    static let answerFields = AnswerFields<Self>(
        "A receiver of events at a back end.", named: "Webhook", isClosed: true
    ) {
        $0.field("webhookId", \.endpoint.identifier)
        $0.field("url", \.endpoint.url)
        $0.field("format", "The format of the messages.", \.endpoint.format)
        $0.field("hasAuthorization", "True if each message has the header `Authorization`.") {
            $0.endpoint.authorization != nil
        }
        $0.field("createdAt", \.endpoint.createdAt)
        $0.field("createdBy", "The API key's identifier.", \.endpoint.createdBy)
        $0.keyName("createdByName", \.endpoint.createdBy)
        $0.field(
            "app", "The bundle identifier of the only app whose events it receives; absent for all events.",
            \.endpoint.app)
        $0.field("types", "The types of the only messages that it receives; absent for all.", \.endpoint.types?.names)
        $0.field("secret", "Present only after the creation.") { webhook in
            webhook.moment.flatMap { webhook.endpoint.secrets(at: $0).first?.description }
        }
    }

    let endpoint: WebhookEndpoint
    /// The moment of the shown secret; nil to omit the secret.
    var moment: Timestamp?
}

extension WebhookFormat: AnswerValue {}

extension EntitlementService {
    /// The webhooks that report the changes of users' purchases.
    ///
    /// - Parameter allowsPrivateAddresses: True if receivers may be in networks that are not public.
    package func webhooks(
        clock: any WallClock, randomness: Randomness = .system, allowsPrivateAddresses: Bool = false
    ) -> WebhookService {
        WebhookService(self, clock: clock, randomness: randomness, allowsPrivateAddresses: allowsPrivateAddresses) {
            try $0.json()
        }
    }
}

struct WebhookSecrets: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "The secrets of a webhook: those of the signature in the form of Standard Webhooks, and the authorization.",
        named: "WebhookSecrets", isClosed: true
    ) {
        $0.field("secret") { $0.secrets[0] }
        $0.field("previousSecret", "Present while the previous secret is valid.") { $0.secrets.dropFirst().first }
        $0.field("previousSecretEndsAt") { $0.secrets.count > 1 ? $0.endpoint.previousSecretEndsAt : nil }
        $0.field(
            "authorization", "The header `Authorization` of each message; absent without one.",
            \.endpoint.authorization?.value)
    }

    private let endpoint: WebhookEndpoint
    /// The secrets that sign messages, the present one first.
    private let secrets: [String]

    init(_ endpoint: WebhookEndpoint, at moment: Timestamp) {
        self.endpoint = endpoint
        secrets = endpoint.secrets(at: moment).map(\.description)
    }
}

struct ListedDelivery: AnswerObject, Listed {
    static let listName = "deliveries"
    static let answerFields = AnswerFields<Self>(
        "The delivery of a message to a webhook.", named: "WebhookDelivery", isClosed: true
    ) {
        $0.field("messageId", \.delivery.messageIdentifier)
        $0.field("state", \.delivery.state)
        $0.field(
            "attempts",
            .integer("The number of attempts since the message was created or replayed.", in: 0 ... .max),
            \.delivery.attempts)
        $0.field(
            "lastAttempt", "The result of the last attempt; without `status` and `error` while it is unknown.",
            \.delivery.lastAttempt)
        $0.field("nextAttemptAt", "Absent if no attempt will follow, or one is due now.") {
            $0.delivery.attempts == 0 ? nil : $0.delivery.nextAttemptAt
        }
        $0.field("message", \.message)
        $0.field("revenueCatMessage", .revenueCatMessage, \.revenueCatMessage)
    }

    let delivery: WebhookDelivery
    /// The message as it would be sent now; nil if the webhook has none of this event.
    let content: WebhookContent?

    private var message: WebhookMessage? {
        if case .till(let message)? = content { message } else { nil }
    }

    private var revenueCatMessage: JSONContent? {
        if case .revenueCat(let event)? = content { JSONContent(json: event.text) } else { nil }
    }
}

extension WebhookDelivery.State: AnswerValue {}

extension WebhookDelivery.Attempt: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "An attempt to send a message.", named: "WebhookAttempt", isClosed: true
    ) {
        $0.field("attemptedAt", \.at)
        $0.field("status", "The HTTP status of the receiver's answer.", \.status)
        $0.field(
            "error",
            .one(of: [
                "timedOut", "unreachable", "tlsFailed", "connectionEnded", "hostUnknown", "addressPrivate", "other",
            ]), \.error)
        $0.field("durationMilliseconds", .integer("The duration of the attempt.", in: 0 ... .max), \.milliseconds)
        $0.field(
            "response", "The beginning of the body of the receiver's answer, as text of at most 1024 bytes.",
            \.response)
    }

    private var status: Int? {
        if case .answered(let status)? = outcome { status } else { nil }
    }

    private var error: String? {
        if case .unanswered(let code)? = outcome { code } else { nil }
    }
}

struct WebhookReplay: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "The number of replayed messages.", named: "WebhookReplay", isClosed: true
    ) {
        $0.field("replayed", .integer(in: 0 ... .max), \.replayed)
        $0.field(
            "continuesAt", "The start of the rest of a period; absent if all its messages were replayed.",
            \.continuesAt)
    }

    let replayed: Int
    var continuesAt: Timestamp?
}

extension APIOperation {
    static let webhooks = OperationTag(
        "Webhooks", "The receivers of events at back ends.",
        [
            listWebhooks, addWebhook, getWebhook, changeWebhook, removeWebhook, getWebhookSecret, replaceWebhookSecret,
            setWebhookAuthorization, testWebhook, listWebhookDeliveries, replayWebhookDeliveries, replayWebhookDelivery,
        ])

    static let listWebhooks = APIOperation(
        .get, "/v1/webhooks", for: .backEnd(.webhooks), isPerApp: true,
        "listWebhooks", "Lists the webhooks",
        answers: [.list("The webhooks, oldest first.", of: ListedWebhook.self)])

    static let addWebhook = APIOperation(
        .post, "/v1/webhooks", for: .backEnd(.webhooks), isPerApp: true,
        "addWebhook", "Creates a webhook for future events",
        body: .json([
            "url": url,
            "format": .one(
                of: WebhookFormat.self, "The format of the messages, which never changes.", default: .standard
            ).optional,
            "authorization": authorization.optional,
            "app": app.optional,
            "types": types.optional,
        ]),
        answers: [.json("The webhook, with its secret.", ListedWebhook.self, status: 201)],
        or: [.conflict, .refused])

    static let getWebhook = APIOperation(
        .get, "/v1/webhooks/{webhook}", for: .backEnd(.webhooks), isPerApp: true,
        "getWebhook", "Returns a webhook",
        answers: [.json("The webhook.", ListedWebhook.self)])

    static let changeWebhook = APIOperation(
        .patch, "/v1/webhooks/{webhook}", for: .backEnd(.webhooks), isPerApp: true,
        "changeWebhook", "Changes the address, the app, the types or the authorization, also for waiting messages",
        details: """
            All of it is changed at once. Another app replaces the secret without an overlap. It removes the authorization unless the \
            request sets one. The keys for an app can read both.
            """,
        body: .json([
            "url": url.optional, "app": app.optional, "types": types.optional, "authorization": authorization.optional,
        ]),
        answers: [.json("The webhook.", ListedWebhook.self)],
        or: [.conflict, .refused])

    static let removeWebhook = APIOperation(
        .delete, "/v1/webhooks/{webhook}", for: .backEnd(.webhooks), isPerApp: true,
        "removeWebhook", "Deletes a webhook and its waiting messages",
        answers: [.empty("The webhook is deleted.")])

    static let getWebhookSecret = APIOperation(
        .get, "/v1/webhooks/{webhook}/secret", for: .backEnd(.webhooks), isPerApp: true,
        "getWebhookSecret", "Returns the secrets of a webhook",
        answers: [.json("The secret, and the previous one while it is valid.", WebhookSecrets.self)])

    static let replaceWebhookSecret = APIOperation(
        .post, "/v1/webhooks/{webhook}/secret", for: .backEnd(.webhooks), isPerApp: true,
        "replaceWebhookSecret", "Replaces the signing secret of a webhook",
        body: .json(
            .object().fields(["previousSecretSeconds": previousSecretSeconds.optional]).closed, isRequired: false),
        answers: [.json("Both secrets.", WebhookSecrets.self)],
        or: [.conflict])

    static let setWebhookAuthorization = APIOperation(
        .put, "/v1/webhooks/{webhook}/authorization", for: .backEnd(.webhooks), isPerApp: true,
        "setWebhookAuthorization", "Sets or removes the header Authorization of a webhook's messages",
        body: .json(["authorization": authorization]),
        answers: [.json("The webhook.", ListedWebhook.self)])

    static let testWebhook = APIOperation(
        .post, "/v1/webhooks/{webhook}/test", for: .backEnd(.webhooks), isPerApp: true,
        "testWebhook", "Sends a signed test message once, which reports no change",
        answers: [.json("The receiver's answer. Nothing is recorded.", WebhookDelivery.Attempt.self)])

    static let listWebhookDeliveries = APIOperation(
        .get, "/v1/webhooks/{webhook}/deliveries", for: .backEnd(.webhooks), isPerApp: true,
        "listWebhookDeliveries", "Lists the deliveries, newest first",
        parameters: [
            .query("state", "Only deliveries in this state.", .one(of: WebhookDelivery.State.self)),
            .query("user", "Only deliveries about this user, in any state.", .text(upTo: User.maximumCustomerLength)),
            .issuer,
        ],
        answers: [.page("A page of deliveries.", of: ListedDelivery.self)])

    static let replayWebhookDeliveries = APIOperation(
        .post, "/v1/webhooks/{webhook}/deliveries/replay", for: .backEnd(.webhooks), isPerApp: true,
        "replayWebhookDeliveries", "Replays the failed messages, or those of a period or about a user",
        details: """
            Without a body, the failed messages are replayed, oldest first, a thousand per request. With `from` and `until`, all \
            messages of the period are, ten thousand per request. With `user`, the latest messages about the user are.
            """,
        body: .json(
            .object().fields([
                "from": .anyTime("The first moment of the period.").nullable.optional,
                "until": .anyTime("The first moment after the period.").nullable.optional,
                "user": .text("The user's name.", length: 1...User.maximumCustomerLength).nullable.optional,
                "issuer": .text("The issuer of the user's tokens; absent for a user of the back end.").nullable
                    .optional,
            ]).closed, isRequired: false),
        answers: [.json("The number of replayed messages.", WebhookReplay.self)])

    static let replayWebhookDelivery = APIOperation(
        .post, "/v1/webhooks/{webhook}/deliveries/{message}/replay", for: .backEnd(.webhooks), isPerApp: true,
        "replayWebhookDelivery", "Replays a message in any state",
        answers: [.json("The delivery.", ListedDelivery.self)])

    /// The message that the service sends to the address of a webhook.
    static let change = APIOperation(
        .post, "", for: .anybody, "change", "Receives a message at the webhook (Standard Webhooks)",
        parameters: [
            .header("webhook-id", "The identifier of the message, the same for every attempt.", isRequired: true),
            .header("webhook-timestamp", "The time of the attempt, in seconds since 1970.", isRequired: true),
            .header(
                "webhook-signature",
                "`v1,` and an HMAC-SHA256 in base64 over identifier, timestamp and body, separated by dots. One signature for each valid secret, separated by spaces.",
                isRequired: true),
            .header("authorization", "The value that the team has set for the webhook."),
        ],
        body: .json(.either(WebhookMessage.schema, cloudEvent, slackMessage, .revenueCatMessage)),
        answers: [
            .empty("The message has arrived. After any other status, the service retries.", status: Answer.anySuccess)
        ],
        never: Set(SharedAnswer.allCases))

    private static let cloudEvent = Schema.object(
        "A message in the form of CloudEvents, of the media type `application/cloudevents+json`.",
        named: "WebhookCloudEvent"
    ).fields([
        "specversion": .one(of: ["1.0"]),
        "id": .text("The identifier of the message, the same for every attempt."),
        "source": .text("`/till/` and the bundle identifier of the app; `/till` without an app.").with([
            "format": "uri-reference"
        ]),
        "type": MessageType.schema,
        "subject": .text("The transaction, the purchase or the grant.").optional,
        "time": .time("The time of the event."),
        "datacontenttype": .one(of: ["application/json"]),
        "data": WebhookMessage.Content.schema,
    ]).closed

    private static let slackMessage = Schema.object("A message for Slack.", named: "WebhookSlackMessage").fields([
        "mrkdwn": .flag("Always false: the text has no markup."),
        "text": .text("The event as a sentence."),
        "unfurl_links": .flag("Always false: no preview of an address in the text."),
        "unfurl_media": .flag("Always false: no preview of an address in the text."),
    ]).closed

    private static let app = Schema.text(
        "The bundle identifier of the only app whose events it receives; null for all events.",
        upTo: RequestedApps.maximumLength
    ).nullable
    private static let types = Schema.array(
        // No enumeration: the types of two formats differ in case alone, for which generators of clients have one name.
        of: .text("A type of the format, such as `subscription.renewed`.", upTo: 100).example("subscription.renewed"),
        "The types of the only messages that it receives, of its format; null for all.", count: 1...100
    ).nullable
    private static let url = Schema.text(
        "The address of the receiver. It must use https, and a public address unless private ones are allowed (`webhook-private-addresses`).",
        upTo: WebhookURL.maximumLength
    ).with(["format": "uri", "pattern": "^https?://[!-~]+$"])
    private static let authorization = Schema.text(
        "The header `Authorization` of each message, which the receiver compares. It is a secret.",
        length: 1...WebhookAuthorization.maximumLength
    ).with(["pattern": "^[!-~]([ -~]*[!-~])?$"]).nullable
    private static let previousSecretSeconds = Schema.integer(
        "The time for which messages are also signed with the previous secret. With 0 the previous secret ends now.",
        in: 0...604_800, default: 86_400)
}

extension WebhookMessage: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "A message to a back end.", named: "WebhookMessage", isClosed: true
    ) {
        $0.field("type", "What happened.", \.type)
        $0.field("timestamp", "The time of the event.", \.happenedAt)
        $0.field("data", "The content of the event.", \.data)
    }
}

extension MessageType: AnswerValue {}

extension WebhookMessage.Content: AnswerObject {
    package static let answerFields = AnswerFields<Self>(isClosed: true) {
        $0.field("user", "The user of the event.", \.user)
        $0.field(
            "number",
            .integer(
                "The number of the entry in the user's audit log. A greater number is later.", in: 1 ... .max), \.number
        )
        $0.field("actor", "`user`, `App Store`, `Google Play`, `till`, or `key` and an API key's identifier.", \.actor)
        $0.field(
            "actorName", "The name of the API key; absent for another actor, and if the service does not have the key.",
            \.actorName)
        $0.field("app", "The bundle identifier of the app that sold it; absent for an event without a purchase.", \.app)
        $0.field("origin", \.origin)
        $0.field("transactionId", "The transaction of the event.", \.transactionId)
        $0.field(
            "originalTransactionId", "The purchase of the event, with all its transactions.", \.originalTransactionId)
        $0.field("productId", \.productId)
        $0.field("grantId", "The grant without a purchase.", \.grantId)
        $0.field("item", \.item)
        $0.field("reference", "The identifier of another thing.", \.reference)
        $0.field("subject", "The words for another thing.", \.subject)
        $0.field("reason", "The team's reason, or what belongs to the event.", \.reason)
        $0.field(
            "refundedAmount", "The money that the store has paid back, in milliunits of `currency`.", \.refundedAmount)
        $0.field("currency", \.currency)
        $0.field(
            "items", "The items that the user owns at the attempt; absent in a form that does not state them.",
            \.state?.items)
        $0.field("subscriptions", "The user's subscriptions at the attempt.", \.state?.subscriptions)
    }
}

extension Schema {
    private static let milliseconds = integer().with(["format": "int64"])
    private static let price = number.nullable
    private static func reason(_ others: String...) -> Schema {
        .one(
            of: [
                "UNSUBSCRIBE", "BILLING_ERROR", "PRICE_INCREASE", "DEVELOPER_INITIATED", "CUSTOMER_SUPPORT", "UNKNOWN",
            ]
                + others)
    }

    static let revenueCatMessage = Schema.object(
        "A message to a back end in RevenueCat's format.", named: "RevenueCatMessage"
    ).fields([
        "api_version": .text().with(["const": "1.0"]),
        "event": .object("The event. RevenueCat documents its members.").fields([
            "aliases": .array(
                of: .text(), "The first ids of the customer, the present one first.", count: 0...10
            ).optional,
            "has_more_aliases": .flag(
                "True if the customer has more ids than the message lists; absent otherwise."
            ).optional,
            "app_id": .text("The bundle identifier of the app; absent for a grant.").nullable.optional,
            "app_user_id": .text().nullable.optional,
            "auto_resume_at_ms": milliseconds.nullable.optional,
            "cancel_reason": reason().optional,
            "commission_percentage": null.optional,
            "country_code": .text().nullable.optional,
            "currency": .text().nullable.optional,
            "entitlement_id": null.optional,
            "entitlement_ids": .array(
                of: .text(), "The rights that the product or the item gives; null if it gives none."
            ).nullable.optional,
            "environment": .one(of: ["PRODUCTION", "SANDBOX"]),
            "event_timestamp_ms": milliseconds,
            "expiration_at_ms": milliseconds.described("The end of access; null for no end.")
                .nullable.optional,
            "expiration_reason": reason("SUBSCRIPTION_PAUSED").optional,
            "grace_period_expiration_at_ms": milliseconds.nullable.optional,
            "id": .text("The identifier of the message, the same for every attempt."),
            "is_family_share": .flag().optional,
            "is_trial_conversion": .flag().optional,
            "metadata": null.optional,
            "new_product_id": .text().nullable.optional,
            "offer_code": .text().nullable.optional,
            "original_app_user_id": .text().nullable.optional,
            "original_transaction_id": .text().nullable.optional,
            "period_type": .one(of: ["TRIAL", "INTRO", "NORMAL", "PROMOTIONAL", "PREPAID"]).optional,
            "presented_offering_id": null.optional,
            "price": price.described("The amount in US dollars; null in another currency.").optional,
            "price_in_purchased_currency": price.optional,
            "product_id": .text("At Google Play, a subscription has its base plan: `garden.plus:monthly`.").optional,
            "purchased_at_ms": milliseconds.nullable.optional,
            "renewal_number": integer().nullable.optional,
            "store": .one(of: ["APP_STORE", "PLAY_STORE", "PROMOTIONAL"]),
            "subscriber_attributes": .object("Always empty.").optional,
            "takehome_percentage": null.optional,
            "tax_percentage": null.optional,
            "transaction_id": .text().optional,
            "transferred_from": .array(of: .text()).optional,
            "transferred_to": .array(of: .text()).optional,
            "type": .one(of: RevenueCatType.allCases.map(\.rawValue)),
        ]).closed,
    ]).closed
}
