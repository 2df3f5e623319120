import Features
import Proofs

extension WebhooksRoutes {
    func delivery(_ context: ConsoleContext) async throws -> Page {
        let endpoint = try await webhooks.endpoint(try context.parameters.text("webhook"))
        let delivery = try await webhooks.delivery(
            try context.parameters.text("message"), to: endpoint.identifier)
        let type = try await webhooks.types(of: [delivery], to: endpoint)[0]
        let attempts = try await webhooks.attempts(of: delivery)
        // The message as it would be sent now. A signature allows its holder to send it, so only administrators see one.
        let message =
            context.may(.administer)
            ? try await webhooks.signed(delivery, for: endpoint) : try await webhooks.unsigned(delivery, for: endpoint)
        return Page("Message: \(type ?? delivery.messageIdentifier)", section: .webhooks) {
            p { a(.href(endpoint.path())) { data(endpoint.shownURL(to: context)) } }
            div(.id("delivery")) { Self.progress(of: delivery, attempts, to: endpoint, context, at: webhooks.now()) }
            if let message { Self.request(message, to: endpoint, context) }
        }
    }

    /// The state and the attempts, which the script loads again while the message is about to be sent.
    @HTMLBuilder private static func progress(
        of delivery: WebhookDelivery, _ attempts: [WebhookDelivery.Attempt], to endpoint: WebhookEndpoint,
        _ context: ConsoleContext, at now: Timestamp
    ) -> HTML {
        WebhookWords.mark([delivery], in: "delivery", at: now)
        card("Delivery") {
            Facts.list {
                fact("State") { Shown.badge(WebhookWords.word(delivery.state)) }
                fact("Attempts since it was created or sent again") { Shown.number(delivery.attempts) }
                fact("Next attempt") { WebhookWords.nextAttempt(of: delivery) }
                fact(Phrase("Event", context: "moment")) { Shown.moment(delivery.entry.happenedAt) }
                fact("Customer") { WebhookWords.customer(of: delivery) }
                fact("Number in the customer's audit log") { Shown.number(delivery.number) }
                fact("Message identifier") { Shown.identifier(delivery.messageIdentifier) }
            }
            if context.may(.support) {
                context.form(
                    to: endpoint.path(of: "deliveries", delivery.messageIdentifier, "resending"), .class("actions")
                ) {
                    button(.class("primary")) { "Send again" }
                }
            }
        }
        part("Attempts") {
            Listing.table("Attempts, newest first", of: attempts, empty: "None yet.") {
                column("Number") { Shown.number($0.number) }
                column("Time") { Shown.moment($0.at) }
                column("Result") { WebhookWords.outcome($0.outcome) }
                column(Phrase("Duration", context: "attempt")) {
                    $0.milliseconds.map { plain(Shown.digits($0) + " ms") }
                }
                column("Response, the first kilobyte") { $0.response.map { text in pre { data(text) } } }
            }
        }
    }

    @HTMLBuilder private static func request(
        _ message: SignedWebhook, to endpoint: WebhookEndpoint, _ context: ConsoleContext
    ) -> HTML {
        let isSigned = context.may(.administer)
        let command = MessageCommand(message: message, url: endpoint.shownURL(to: context), isSigned: isSigned)
        part("Request") {
            p(.class("note")) {
                "Each attempt sends this body, with its own time and signature."
                if endpoint.format != .slack { also(Phrase("A later attempt states the purchase as it is then.")) }
            }
            Facts.list {
                fact("POST to") { data(endpoint.origin) }
                for each in command.headers {
                    fact(Phrase(same: each.name)) {
                        switch each.name {
                        case MessageCommand.signatureHeader: "Made with the endpoint's secret"
                        case MessageCommand.authorizationHeader: "The endpoint's authorization"
                        default: data(each.value)
                        }
                    }
                }
            }
            h3 { "Body" }
            pre { data(String(decoding: message.body, as: UTF8.self)) }
        }
        part("As a curl command") {
            pre(.id("curl")) { plain(command.text) }
            p(.class("actions")) { Shown.copyButton(for: "curl") }
            note(
                isSigned
                    ? "Signed now. Receivers accept a signature for some minutes."
                    : "Replace the placeholders: only administrators see the whole address and a signature.")
        }
    }
}

/// A command that sends a message as the service does.
struct MessageCommand {
    static let signatureHeader = "webhook-signature"
    static let authorizationHeader = "authorization"
    /// The values for members who may not see a signature and the endpoint's authorization.
    private static let placeholders = [signatureHeader: "v1,SIGNATURE", authorizationHeader: "AUTHORIZATION"]

    let message: SignedWebhook
    let url: String
    /// True if the command has the signature and the authorization.
    let isSigned: Bool

    var headers: [(name: String, value: String)] {
        [("content-type", message.mediaType), ("user-agent", "Till")]
            + message.headers.map { header in
                (header.name, isSigned ? header.value : Self.placeholders[header.name] ?? header.value)
            }
    }

    var text: String {
        let lines =
            ["curl -X POST \(Self.quoted(url))"] + headers.map { "-H \(Self.quoted("\($0.name): \($0.value)"))" }
            + ["--data-raw \(Self.quoted(String(decoding: message.body, as: UTF8.self)))"]
        return lines.joined(separator: " \\\n  ")
    }

    /// A text as one word of a shell (POSIX, "Single-Quotes").
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
