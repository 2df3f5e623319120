import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// Routes for webhooks: endpoints, secrets and deliveries.
struct WebhookRoutes: Sendable {
    let webhooks: WebhookService

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

        func answer(_ endpoint: WebhookEndpoint) async throws -> Response {
            try ListedWebhook(endpoint: endpoint).answer(naming: try await webhooks.ledger.apiKeyNames())
        }

        func secrets(of endpoint: WebhookEndpoint) throws -> Response {
            try WebhookSecrets(endpoint, at: webhooks.now()).answer(headers: WebhookRoutes.headers)
        }
    }

    func add(to group: RouterGroup<ServiceContext>, naming subjects: Subjects) {
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
            let keys = try await call.webhooks.ledger.apiKeyNames()
            let endpoint = try await call.webhooks.add(
                url, format: format, authorization: authorization, by: try call.key)
            return try ListedWebhook(endpoint: endpoint, moment: call.webhooks.now())
                .answer(naming: keys, status: .created, headers: Self.headers)
        }
        on(.getWebhook) { call in try await call.answer(try await call.webhooks.endpoint(try call.identifier)) }
        on(.moveWebhook) { call in
            let url = try url(try await call.body(of: .moveWebhook))
            return try await call.answer(
                try await call.webhooks.setURL(url, of: try call.identifier, by: try call.key))
        }
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
                try await call.webhooks.setAuthorization(
                    try Self.authorization(body), of: identifier, by: try call.key))
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
        guard case .text(let text) = try body.optionalText("format") else { return .till }
        guard let format = WebhookFormat(rawValue: text) else {
            let formats = WebhookFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw JSONBody.invalid("The field /format must be one of \(formats).")
        }
        return format
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
        $0.field("secret", "Present only after the creation.") { webhook in
            webhook.moment.flatMap { webhook.endpoint.secrets(at: $0).first?.description }
        }
    }

    let endpoint: WebhookEndpoint
    /// The moment of the shown secret; nil to omit the secret.
    var moment: Timestamp?
}

extension WebhookFormat: AnswerValue {}

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
    package static let answerFields = AnswerFields<Self>(isClosed: true) {
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
