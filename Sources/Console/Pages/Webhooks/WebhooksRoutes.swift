import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The pages of webhooks: endpoints, secrets and deliveries.
struct WebhooksRoutes: Sendable {
    /// The choices for the period in which a replaced secret still signs, in seconds.
    static let overlaps: [Int64] = [0, 3600, WebhookService.standardOverlap, WebhookService.overlap.upperBound]
    /// The number of changes that the page of an endpoint shows.
    private static let shownChanges = 20

    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        guard let webhooks = services.webhooks else { return }
        pages.get("webhooks") { _, context in try await endpoints(webhooks, context) }
        pages.post("webhooks", .administer) { _, context in
            let endpoint = try await webhooks.add(
                try url(context), format: try Self.format(context), authorization: try Self.authorization(context),
                by: try context.requiredMember.caller)
            return ConsolePath("webhooks", endpoint.identifier, "secret", done: .created)
        }
        pages.get("webhooks/:webhook") { request, context in try await endpoint(webhooks, request, context) }
        addAdministration(to: pages, webhooks)
        addDeliveries(to: pages, webhooks)
    }

    private func addAdministration(to pages: ConsolePages, _ webhooks: WebhookService) {
        pages.post("webhooks/:webhook/address", .administer) { _, context in
            let identifier = try context.parameters.text("webhook")
            _ = try await webhooks.setURL(try url(context), of: identifier, by: try context.requiredMember.caller)
            return ConsolePath("webhooks", identifier, done: .saved)
        }
        pages.post("webhooks/:webhook/authorization", .administer) { _, context in
            let identifier = try context.parameters.text("webhook")
            _ = try await webhooks.setAuthorization(
                try Self.authorization(context), of: identifier, by: try context.requiredMember.caller)
            return ConsolePath("webhooks", identifier, done: .saved)
        }
        pages.post("webhooks/:webhook/removal", .administer) { _, context in
            try await webhooks.remove(try context.parameters.text("webhook"), by: try context.requiredMember.caller)
            return ConsolePath("webhooks", done: .removed)
        }
        pages.get("webhooks/:webhook/secret", .administer) { _, context in
            let endpoint = try await webhooks.endpoint(try context.parameters.text("webhook"))
            return EndpointSecretPage(context: context, endpoint: endpoint, now: webhooks.now()).page
        }
        pages.post("webhooks/:webhook/secret", .administer) { _, context in
            let identifier = try context.parameters.text("webhook")
            guard let seconds = try context.form.integer("overlap").map(Int64.init), Self.overlaps.contains(seconds)
            else { throw ConsoleForm.invalid("overlap", "one of the offered periods") }
            _ = try await webhooks.replaceSecret(
                of: identifier, keepingPreviousFor: seconds, by: try context.requiredMember.caller)
            return ConsolePath("webhooks", identifier, "secret", done: .secretReplaced)
        }
    }

    private func addDeliveries(to pages: ConsolePages, _ webhooks: WebhookService) {
        pages.get("webhooks/:webhook/deliveries/:message") { _, context in try await delivery(webhooks, context) }
        pages.post("webhooks/:webhook/deliveries/:message/resending", .support) { _, context in
            let (identifier, message) = (try context.parameters.text("webhook"), try context.parameters.text("message"))
            _ = try await webhooks.replay(message, to: identifier, by: try context.requiredMember.caller)
            return ConsolePath("webhooks", identifier, "deliveries", message, done: .queued)
        }
        pages.post("webhooks/:webhook/failed/resending", .support) { _, context in
            let identifier = try context.parameters.text("webhook")
            let count = try await webhooks.replayFailed(to: identifier, by: try context.requiredMember.caller)
            return ConsolePath("webhooks", identifier, query: ["resent": String(count)])
        }
        pages.post("webhooks/:webhook/period/resending", .support) { _, context in
            let identifier = try context.parameters.text("webhook")
            let (start, end) = (try context.form.moment("from"), try context.form.moment("until"))
            guard start < end else { throw ConsoleForm.invalid("until", "later than the field \"from\"") }
            let replayed = try await webhooks.replay(
                to: identifier, from: start, until: end, by: try context.requiredMember.caller)
            return ConsolePath(
                "webhooks", identifier,
                query: ["resent": String(replayed.count), "after": replayed.last.map { $0.happenedAt.rfc3339 }])
        }
    }

    private func url(_ context: ConsoleContext) throws -> WebhookURL {
        try WebhookURL(
            receiver: try context.form.requiredText("url", upTo: WebhookURL.maximumLength),
            allowsPrivate: services.system.allowsPrivateWebhooks)
    }

    private static func format(_ context: ConsoleContext) throws -> WebhookFormat {
        let text = try context.form.text("format")
        guard !text.isEmpty else { return .till }
        guard let format = WebhookFormat(rawValue: text) else {
            throw ConsoleForm.invalid("format", "one of the offered formats")
        }
        return format
    }

    /// - Returns: Nil for an empty field.
    private static func authorization(_ context: ConsoleContext) throws -> WebhookAuthorization? {
        let text = try context.form.text("authorization", upTo: WebhookAuthorization.maximumLength)
        guard !text.isEmpty else { return nil }
        guard let authorization = WebhookAuthorization(text) else {
            throw ConsoleForm.invalid("authorization", "printable ASCII characters")
        }
        return authorization
    }

    private func endpoints(_ webhooks: WebhookService, _ context: ConsoleContext) async throws -> Page {
        var rows: [EndpointListPage.Row] = []
        for endpoint in try await webhooks.endpoints() {
            let (last, failed) = (
                try await webhooks.deliveries(to: endpoint.identifier, in: nil, before: nil, limit: 1),
                try await webhooks.deliveries(to: endpoint.identifier, in: .failed, before: nil, limit: 1)
            )
            rows.append(EndpointListPage.Row(endpoint: endpoint, last: last.first, hasFailed: !failed.isEmpty))
        }
        return EndpointListPage(
            context: context, rows: rows, keys: try await services.entitlements.ledger.apiKeyNames()
        ).page
    }

    private func endpoint(
        _ webhooks: WebhookService, _ request: Request, _ context: ConsoleContext
    ) async throws -> Page {
        let identifier = try context.parameters.text("webhook")
        let endpoint = try await webhooks.endpoint(identifier)
        let state = try request.query("state").flatMap { WebhookDelivery.State(rawValue: $0) }
        let list = try HTTPSupport.Page(request)
        let position = try list.position { WebhookDeliveryPosition(cursor: $0) }
        let found = try await webhooks.deliveries(to: identifier, in: state, before: position, limit: list.size + 1)
        let (shown, next) = list.part(of: found) { WebhookDeliveryPosition($0).cursor }
        let types = try await webhooks.contents(of: Array(shown), to: endpoint).map { $0?.type }
        return EndpointPage(
            context: context, endpoint: endpoint, keys: try await services.entitlements.ledger.apiKeyNames(),
            state: state, deliveries: zip(shown, types).map { ($0, $1) }, nextCursor: next,
            changes: try await webhooks.changes(of: identifier, limit: Self.shownChanges), now: webhooks.now(),
            resent: try request.query("resent").flatMap(Int.init),
            continuation: try request.query("after").flatMap { Timestamp(rfc3339: $0) }
        ).page
    }

    private func delivery(_ webhooks: WebhookService, _ context: ConsoleContext) async throws -> Page {
        let (identifier, message) = (try context.parameters.text("webhook"), try context.parameters.text("message"))
        let endpoint = try await webhooks.endpoint(identifier)
        let delivery = try await webhooks.delivery(message, to: identifier)
        return DeliveryPage(
            context: context, endpoint: endpoint, delivery: delivery,
            type: try await webhooks.content(of: delivery, to: endpoint)?.type,
            attempts: try await webhooks.attempts(of: delivery),
            // A signature allows its holder to send the message, so only administrators see one.
            message: context.may(.administer)
                ? try await webhooks.signed(delivery, for: endpoint)
                : try await webhooks.unsigned(delivery, for: endpoint)
        ).page
    }
}

/// The list of all endpoints.
struct EndpointListPage {
    struct Row {
        let endpoint: WebhookEndpoint
        let last: WebhookDelivery?
        let hasFailed: Bool
    }

    let context: ConsoleContext
    let rows: [Row]
    /// The names of API keys by their identifiers.
    let keys: [String: String]

    var page: Page {
        Page("Webhooks", section: .webhooks) {
            p { "Each endpoint of your back end receives a signed message about every change of what a user owns." }
            table
            if context.may(.administer) { addition }
        }
    }

    private var table: HTML {
        Listing.table("Endpoints, oldest first", of: rows, empty: "There is no endpoint.") {
            column("Address") { row in
                a(.href(path(row.endpoint))) { data(row.endpoint.shownURL(to: context)) }
            }
            column("Format") { WebhookWords.title(of: $0.endpoint.format) }
            column("Last message") { row in
                if let last = row.last {
                    spaced(WebhookWords.badge(last.state), Shown.moment(last.entry.happenedAt))
                } else {
                    Shown.nothing
                }
            }
            column(Phrase("Given up", context: "messages")) { row in
                if row.hasFailed {
                    a(.href(path(row.endpoint, WebhookDelivery.State.failed))) { "Show" }
                } else {
                    "None"
                }
            }
            column("Added") { Shown.moment($0.endpoint.createdAt) }
            column(Phrase("By", context: "added")) { ActorWords.html(caller: $0.endpoint.createdBy, keys) }
        }
    }

    private func path(_ endpoint: WebhookEndpoint, _ state: WebhookDelivery.State? = nil) -> ConsolePath {
        ConsolePath("webhooks", endpoint.identifier, query: ["state": state?.rawValue])
    }

    private var addition: HTML {
        context.action("Add an endpoint", to: ConsolePath("webhooks"), submit: "Add") {
            Field.text(
                "url", "Address", inputMode: "url", maximumLength: WebhookURL.maximumLength,
                isRequired: true,
                note: "Begins with https://. The next page shows the secret."
            )
            Field.choice(
                "format", "Format",
                WebhookFormat.allCases.map { ($0.rawValue, WebhookWords.title(of: $0)) },
                chosen: WebhookFormat.till.rawValue)
            EndpointActions.authorizationField
        }
    }
}
