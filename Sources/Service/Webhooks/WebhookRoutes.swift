import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Routes for webhooks: endpoints, secrets and deliveries.
struct WebhookRoutes: Sendable {
    let webhooks: WebhookService
    let allowsPrivateAddresses: Bool

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

        /// The name of the caller.
        var key: String { get throws { try context.requiredCaller.name } }

        func body(of operation: APIOperation) async throws -> JSONBody {
            try await JSONBody(request, context, of: operation)
        }

        func answer(_ endpoint: WebhookEndpoint) async throws -> Response {
            try JSONAnswer.response(WebhookResource(endpoint, naming: try await webhooks.ledger.apiKeyNames()))
        }

        func secrets(of endpoint: WebhookEndpoint) throws -> Response {
            try JSONAnswer.response(
                WebhookSecretsResource(endpoint, at: webhooks.now()), headers: WebhookRoutes.headers)
        }
    }

    func add(to group: RouterGroup<ServiceContext>) {
        func on(_ operation: APIOperation, _ answer: @escaping @Sendable (Call) async throws -> Response) {
            group.on(operation) { request, context in try await answer(Call(webhooks, request, context)) }
        }
        on(.listWebhooks) { call in
            let keys = try await call.webhooks.ledger.apiKeyNames()
            return try JSONAnswer.response(
                List(try await call.webhooks.endpoints().map { WebhookResource($0, naming: keys) }))
        }
        on(.addWebhook) { call in
            let body = try await call.body(of: .addWebhook)
            let (url, format, authorization) = (try url(body), try Self.format(body), try Self.authorization(body))
            let keys = try await call.webhooks.ledger.apiKeyNames()
            let endpoint = try await call.webhooks.add(
                url, format: format, authorization: authorization, by: try call.key)
            let resource = WebhookResource(endpoint, naming: keys, showingSecretAt: call.webhooks.now())
            return JSONAnswer.response(
                bytes: try JSONAnswer.encode(resource), status: .created, headers: Self.headers)
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
            let bytes = try await RequestBytes.collect(call.request, call.context, upTo: JSONBody.standardSize)
            let given =
                bytes.isEmpty
                ? nil
                : try await JSONBody(bytes: bytes, fields: APIOperation.replaceWebhookSecret.bodyFields)
                    .optionalInteger("previousSecretSeconds")
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
        on(.listWebhookDeliveries) { call in try await Self.deliveries(call) }
        on(.replayFailedWebhookDeliveries) { call in
            try JSONAnswer.response(
                WebhookReplayResource(
                    replayed: try await call.webhooks.replayFailed(to: try call.identifier, by: try call.key)))
        }
        on(.replayWebhookDelivery) { call in
            let (webhooks, identifier) = (call.webhooks, try call.identifier)
            let message = try call.context.parameters.text("message")
            let delivery = try await webhooks.replay(message, to: identifier, by: try call.key)
            let content = try await webhooks.content(of: delivery, to: try await webhooks.endpoint(identifier))
            return try JSONAnswer.response(WebhookDeliveryResource(delivery, content))
        }
    }

    private static func deliveries(_ call: Call) async throws -> Response {
        let (webhooks, identifier) = (call.webhooks, try call.identifier)
        let state = try call.request.query("state", as: WebhookDelivery.State.self)
        let page = try Page(call.request)
        let position = try page.position { WebhookDeliveryPosition(cursor: $0) }
        let found = try await webhooks.deliveries(to: identifier, in: state, before: position, limit: page.size + 1)
        let (shown, next) = page.part(of: found) { WebhookDeliveryPosition($0).cursor }
        let contents = try await webhooks.contents(of: Array(shown), to: try await webhooks.endpoint(identifier))
        return try JSONAnswer.response(
            List(zip(shown, contents).map { WebhookDeliveryResource($0, $1) }, nextCursor: next))
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
        return try WebhookURL(receiver: text, allowsPrivate: allowsPrivateAddresses)
    }
}

/// A webhook.
package struct WebhookResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "webhooks"
    package static let schema = Schema(of: Self.self, named: "Webhook", "A receiver of events at a back end.").noting([
        "format": .one(of: WebhookFormat.self, "The format of the messages."),
        "hasAuthorization": "True if each message has the header `Authorization`.",
        "createdAt": .time(),
        "createdBy": "The API key's identifier.",
        "createdByName": "The name of the API key; absent if the service does not have the key.",
        "app": "The bundle identifier of the only app whose events it receives; absent for all events.",
        "secret": "Present only after the creation.",
    ]).closed

    package let webhookId: String
    package let url: String
    package let format: String
    package let hasAuthorization: Bool
    package let createdAt: String
    package let createdBy: String
    package let createdByName: String?
    package let app: String?
    package let secret: String?

    /// - Parameters:
    ///   - keys: The names of API keys by their identifiers.
    ///   - moment: The moment of the shown secret; nil to omit the secret.
    init(_ endpoint: WebhookEndpoint, naming keys: [String: String], showingSecretAt moment: Timestamp? = nil) {
        webhookId = endpoint.identifier
        url = endpoint.url
        format = endpoint.format.rawValue
        hasAuthorization = endpoint.authorization != nil
        createdAt = endpoint.createdAt.rfc3339
        createdBy = endpoint.createdBy
        createdByName = keys[endpoint.createdBy]
        app = endpoint.app
        secret = moment.flatMap { endpoint.secrets(at: $0).first?.description }
    }
}

/// The secrets of a webhook.
package struct WebhookSecretsResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "WebhookSecrets",
        "The secrets of a webhook: those of the signature in the form of Standard Webhooks, and the authorization."
    ).noting([
        "previousSecret": "Present while the previous secret is valid.",
        "previousSecretEndsAt": .time(),
        "authorization": "The header `Authorization` of each message; absent without one.",
    ]).closed

    /// The secret that signs messages.
    package let secret: String
    package let previousSecret: String?
    package let previousSecretEndsAt: String?
    package let authorization: String?

    init(_ endpoint: WebhookEndpoint, at moment: Timestamp) {
        let secrets = endpoint.secrets(at: moment).map(\.description)
        secret = secrets[0]
        previousSecret = secrets.dropFirst().first
        previousSecretEndsAt = secrets.count > 1 ? endpoint.previousSecretEndsAt?.rfc3339 : nil
        authorization = endpoint.authorization?.value
    }
}

/// A message to a webhook with the state of its delivery.
package struct WebhookDeliveryResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "deliveries"
    package static let schema = Schema(
        of: Self.self, named: "WebhookDelivery", "The delivery of a message to a webhook."
    ).noting([
        "state": .one(of: WebhookDelivery.State.self),
        "attempts": .integer("The number of attempts since the message was created or replayed.", in: 0 ... .max),
        "revenueCatMessage": .revenueCatMessage,
        "lastAttempt": "The result of the last attempt; without `status` and `error` while it is unknown.",
        "nextAttemptAt": .time("Absent if no attempt will follow, or one is due now."),
    ]).closed

    /// An attempt to deliver a message.
    package struct Attempt: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self).noting([
            "attemptedAt": .time(),
            "status": "The HTTP status of the receiver's answer.",
            "error": .one(of: [
                "timedOut", "unreachable", "tlsFailed", "connectionEnded", "hostUnknown", "addressPrivate", "other",
            ]),
            "durationMilliseconds": .integer("The duration of the attempt.", in: 0 ... .max),
            "response": "The beginning of the body of the receiver's answer, as text of at most 1024 bytes.",
        ]).closed

        let attemptedAt: String
        /// The HTTP status of the response. Nil if there is none.
        package let status: Int?
        /// The reason for a missing response. Nil if there is a response, or before the first attempt.
        package let error: String?
        /// The duration. Nil before the end of the attempt.
        let durationMilliseconds: Int64?
        /// The beginning of the response's body, as text of at most 1024 bytes. Nil if there is none.
        package let response: String?

        init(_ attempt: WebhookDelivery.Attempt) {
            let (status, error): (Int?, String?) =
                switch attempt.outcome {
                case .answered(let status): (status, nil)
                case .unanswered(let code): (nil, code)
                case nil: (nil, nil)
                }
            attemptedAt = attempt.at.rfc3339
            self.status = status
            self.error = error
            durationMilliseconds = attempt.milliseconds
            response = attempt.response
        }
    }

    package let messageId: String
    package let state: String
    package let attempts: Int
    /// The last attempt. Nil before the first.
    package let lastAttempt: Attempt?
    package let nextAttemptAt: String?
    /// The message as it is sent. Nil for a webhook of another format.
    package let message: WebhookMessage?
    /// The message in RevenueCat's format, as it would be sent now. Nil for a webhook of another format.
    package let revenueCatMessage: JSONContent?

    init(_ delivery: WebhookDelivery, _ content: WebhookContent?) {
        let (message, event): (WebhookMessage?, RevenueCatEvent?) =
            switch content {
            case .till(let message): (message, nil)
            case .revenueCat(let event): (nil, event)
            case nil: (nil, nil)
            }
        messageId = delivery.messageIdentifier
        state = delivery.state.rawValue
        attempts = delivery.attempts
        lastAttempt = delivery.lastAttempt.map { Attempt($0) }
        nextAttemptAt = delivery.attempts == 0 ? nil : delivery.nextAttemptAt?.rfc3339
        self.message = message
        revenueCatMessage = event.flatMap { JSONContent(json: $0.text) }
    }
}

/// The result of a replay of failed messages.
struct WebhookReplayResource: Codable, SchemaSource {
    package static let schema = Schema(of: Self.self, named: "WebhookReplay", "The number of replayed messages.")
        .noting(["replayed": .integer(in: 0 ... .max)]).closed

    /// The number of replayed messages.
    let replayed: Int
}
