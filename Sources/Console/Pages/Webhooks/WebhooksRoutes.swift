import Features

/// The pages of webhooks: endpoints, secrets and deliveries.
struct WebhooksRoutes: Sendable {
    /// The period in which a replaced secret still signs, in seconds.
    static let overlap = Field.choice(
        "overlap", "The old secret still signs for",
        [0, 3600, WebhookService.standardOverlap, WebhookService.overlap.upperBound],
        expected: "one of the offered periods", text: { String($0) }, shown: { WebhookWords.period($0) },
        chosen: WebhookService.standardOverlap)
    static let start = Field.moment("from", "From (UTC)")
    static let end = Field.moment("until", "Until (UTC)")
    private static let format = Field.choice(
        "format", "Format", WebhookFormat.allCases, expected: "one of the offered formats", text: \.rawValue,
        shown: { WebhookWords.title(of: $0) }, chosen: .standard, absent: .standard)
    /// The types of the messages of an endpoint, whose format knows them.
    static let types = Field.text(
        "types", "Types of messages", upTo: 2048,
        note: "With spaces between them, such as purchase.refunded subscription.expired. Leave it empty for all.")
    /// The field for the header `Authorization` of an endpoint's messages. It never shows the present value, a secret.
    static let authorization = Field.text(
        "authorization", "Authorization header", upTo: WebhookAuthorization.maximumLength,
        note: "Each message has this value, which your back end can compare. Leave it empty for none."
    ).optional("printable ASCII characters") { WebhookAuthorization($0) }

    let services: any ConsoleServices
    let webhooks: WebhookService

    /// The hidden field with the app that the page has shown; empty for all apps.
    static let shownApp = "shown-app"

    static func address(_ note: Phrase) -> Field<String> {
        .text("url", "Address", upTo: WebhookURL.maximumLength, inputMode: "url", isRequired: true, note: note)
    }

    private static let newAddress = address("Begins with https://. The next page shows the secret.")
    static let changedAddress = address("Waiting messages go there, too.")

    func add(to pages: ConsolePages) {
        pages.get("webhooks") { _, context in try await endpoints(context) }
        pages.post("webhooks", .administer) { _, context in
            let format = try context.form[Self.format]
            let endpoint = try await webhooks.add(
                try url(context), format: format, authorization: try context.form[Self.authorization],
                app: try Self.app(context), types: try Self.types(context, of: format), by: try context.caller)
            return ConsolePath("webhooks", endpoint.identifier, "secret", done: .created)
        }
        pages.get("webhooks/:webhook") { request, context in try await endpoint(request, context) }
        pages.post("webhooks/:webhook/address", .administer) { _, context in
            let identifier = try context.parameters.text("webhook")
            _ = try await webhooks.change(identifier, url: try url(context), by: try context.caller)
            return ConsolePath("webhooks", identifier, done: .saved)
        }
        pages.post("webhooks/:webhook/messages", .administer) { _, context in
            let endpoint = try await webhooks.endpoint(try context.parameters.text("webhook"))
            let changed = try await webhooks.change(
                endpoint.identifier, app: try Self.changedApp(context),
                types: .set(try Self.types(context, of: endpoint.format)), by: try context.caller)
            guard changed.secret == endpoint.secret else {
                return ConsolePath("webhooks", endpoint.identifier, "secret", done: .secretReplaced)
            }
            return ConsolePath("webhooks", endpoint.identifier, done: .saved)
        }
        pages.post("webhooks/:webhook/authorization", .administer) { _, context in
            let identifier = try context.parameters.text("webhook")
            _ = try await webhooks.change(
                identifier, authorization: .set(try context.form[Self.authorization]), by: try context.caller)
            return ConsolePath("webhooks", identifier, done: .saved)
        }
        pages.post("webhooks/:webhook/removal", .administer) { _, context in
            try await webhooks.remove(try context.parameters.text("webhook"), by: try context.caller)
            return ConsolePath("webhooks", done: .removed)
        }
        pages.get("webhooks/:webhook/secret", .administer) { _, context in try await secret(context) }
        pages.post("webhooks/:webhook/secret", .administer) { _, context in
            let identifier = try context.parameters.text("webhook")
            let seconds = try context.form[Self.overlap]
            _ = try await webhooks.replaceSecret(of: identifier, keepingPreviousFor: seconds, by: try context.caller)
            return ConsolePath("webhooks", identifier, "secret", done: .secretReplaced)
        }
        pages.get("webhooks/:webhook/deliveries/:message") { _, context in try await delivery(context) }
        pages.post("webhooks/:webhook/deliveries/:message/resending", .support) { _, context in
            let (identifier, message) = (try context.parameters.text("webhook"), try context.parameters.text("message"))
            _ = try await webhooks.replay(message, to: identifier, by: try context.caller)
            return ConsolePath("webhooks", identifier, "deliveries", message, done: .queued)
        }
        pages.post("webhooks/:webhook/test", .support) { _, context in
            let endpoint = try await webhooks.endpoint(try context.parameters.text("webhook"))
            let tested =
                switch try await services.testWebhook?(endpoint) {
                case .answered(let status): String(status)
                case .unanswered(let code): code
                case nil: nil as String?
                }
            return ConsolePath("webhooks", endpoint.identifier, query: ["tested": tested])
        }
        pages.post("webhooks/:webhook/failed/resending", .support) { _, context in
            let identifier = try context.parameters.text("webhook")
            let count = try await webhooks.replayFailed(to: identifier, by: try context.caller)
            return ConsolePath("webhooks", identifier, query: ["resent": String(count)])
        }
        pages.post("webhooks/:webhook/period/resending", .support) { _, context in
            let identifier = try context.parameters.text("webhook")
            let (start, end) = (try context.form[Self.start], try context.form[Self.end])
            guard start < end else { throw ConsoleForm.invalid("until", "later than the field \"from\"") }
            let replayed = try await webhooks.replay(to: identifier, from: start, until: end, by: try context.caller)
            return ConsolePath(
                "webhooks", identifier,
                query: ["resent": String(replayed.count), "after": replayed.last.map { $0.happenedAt.rfc3339 }])
        }
    }

    private func url(_ context: ConsoleContext) throws -> WebhookURL {
        try WebhookURL(
            receiver: try context.form[Self.changedAddress], allowsPrivate: webhooks.allowsPrivateAddresses)
    }

    /// The bundle identifiers of the apps that the service sells.
    var apps: [String] { services.entitlements.catalogs.all.map(\.bundleIdentifier) }

    /// The apps of the form that changes an endpoint, also its own one if the service no longer sells it. Otherwise a form that changes
    /// something else would choose all apps.
    func apps(for endpoint: WebhookEndpoint) -> [String] {
        apps + [endpoint.app].compactMap(\.self).filter { app in !apps.contains { $0.hasSameBytes(as: app) } }
    }

    /// The app of a form; nil for all apps.
    private static func app(_ context: ConsoleContext) throws -> String? {
        let app = try context.form.text("app")
        return app.isEmpty ? nil : app
    }

    /// The app of the form that changes an endpoint. It is set only if the person chose another one than the page had shown: somebody
    /// else may have limited the endpoint to an app meanwhile. A service of one app has no choice.
    private static func changedApp(_ context: ConsoleContext) throws -> WebhookSetting<String> {
        guard context.form.bytes("app") != nil, context.form.bytes(shownApp) != nil else { return .unchanged }
        let chosen = try app(context)
        return try context.form.text(shownApp).hasSameBytes(as: chosen ?? "") ? .unchanged : .set(chosen)
    }

    /// The types of a form; nil for all.
    private static func types(_ context: ConsoleContext, of format: WebhookFormat) throws -> WebhookTypes? {
        let names = try context.form[types].split(whereSeparator: { ", ".contains($0) }).map(String.init)
        return names.isEmpty ? nil : try WebhookTypes(names, of: format)
    }

    private func endpoints(_ context: ConsoleContext) async throws -> Page {
        var rows: [(endpoint: WebhookEndpoint, last: WebhookDelivery?, hasFailed: Bool)] = []
        for endpoint in try await webhooks.endpoints() {
            let last = try await webhooks.deliveries(to: endpoint.identifier, in: nil, before: nil, limit: 1)
            let failed = try await webhooks.deliveries(to: endpoint.identifier, in: .failed, before: nil, limit: 1)
            rows.append((endpoint, last.first, !failed.isEmpty))
        }
        let keys = try await services.ledger.apiKeyNames()
        return Page("Webhooks", section: .webhooks) {
            p { "Each endpoint of your back end receives a signed message about every change of what a user owns." }
            Listing.table("Endpoints, oldest first", of: rows, empty: "There is no endpoint.") {
                column("Address") { a(.href($0.endpoint.path()), data($0.endpoint.shownURL(to: context))) }
                column("Format") { WebhookWords.title(of: $0.endpoint.format) }
                column("App") { WebhookWords.app(of: $0.endpoint) }
                column("Types of messages") { WebhookWords.types(of: $0.endpoint) }
                column("Last message") {
                    $0.last.map { spaced(Shown.badge(WebhookWords.word($0.state)), Shown.moment($0.entry.happenedAt)) }
                }
                column(Phrase("Given up", context: "messages")) { row in
                    if row.hasFailed { a(.href(row.endpoint.path(.failed))) { "Show" } } else { "None" }
                }
                column("Added") { Shown.moment($0.endpoint.createdAt) }
                column(Phrase("By", context: "added")) { ActorWords.html(caller: $0.endpoint.createdBy, keys) }
            }
            if context.may(.administer) {
                context.action("Add an endpoint", to: ConsolePath("webhooks"), submit: "Add") {
                    Self.newAddress
                    Self.format
                    Field.app(apps, empty: "All apps", chosen: nil)
                    Self.types
                    Self.authorization
                }
            }
        }
    }

    /// The secrets of an endpoint, for administrators.
    private func secret(_ context: ConsoleContext) async throws -> Page {
        let endpoint = try await webhooks.endpoint(try context.parameters.text("webhook"))
        let secrets = endpoint.secrets(at: webhooks.now()).map(\.description)
        return Page("Secret of a webhook", section: .webhooks) {
            p { a(.href(endpoint.path())) { data(endpoint.url) } }
            p { "Your back end verifies the signature of each message with this secret (Standard Webhooks)." }
            for (index, secret) in secrets.enumerated() {
                card(index == 0 ? "Secret" : "Previous secret") {
                    Shown.copyable("secret-\(index)", secret)
                    if index > 0 {
                        p { spaced(by: ": ", Phrase("Signs until"), Shown.moment(endpoint.previousSecretEndsAt)) }
                    }
                }
            }
            if let authorization = endpoint.authorization {
                card("Authorization header") {
                    Shown.copyable("authorization", authorization.value)
                }
            }
        }
    }
}
