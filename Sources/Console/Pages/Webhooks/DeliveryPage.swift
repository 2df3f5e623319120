import Features
import Proofs

/// The page of a delivery, with its message and each attempt.
struct DeliveryPage {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    let delivery: WebhookDelivery
    /// The type of the message; nil for an event without one.
    let type: String?
    /// The attempts, newest first.
    let attempts: [WebhookDelivery.Attempt]
    /// The message as it would be sent now, signed if the member may see a signature.
    let message: SignedWebhook?

    var page: Page {
        let title = type ?? delivery.messageIdentifier
        return Page("Message: \(title)", section: .webhooks) {
            p { a(.href(ConsolePath("webhooks", endpoint.identifier))) { data(endpoint.shownURL(to: context)) } }
            card("Delivery") {
                Facts.list(facts)
                if context.may(.support) {
                    context.form(to: path("resending"), .class("actions")) {
                        button(.class("primary")) { "Send again" }
                    }
                }
            }
            part("Attempts") {
                Listing.table("Attempts, newest first", of: attempts, empty: "None yet.") {
                    column("Number") { Shown.number($0.number) }
                    column("Time") { Shown.moment($0.at) }
                    column("Result") { WebhookWords.outcome(of: $0) }
                    column(Phrase("Duration", context: "attempt")) {
                        $0.milliseconds.map { plain(Shown.digits($0) + " ms") } ?? Shown.nothing
                    }
                    column("Response, the first kilobyte") {
                        $0.response.map { text in pre { data(text) } } ?? Shown.nothing
                    }
                }
            }
            if let message { request(message) }
        }
    }

    @FactsBuilder private var facts: [Fact] {
        fact("State") { WebhookWords.badge(delivery.state) }
        fact("Attempts since it was created or sent again") { Shown.number(Int64(delivery.attempts)) }
        fact("Next attempt") { Self.nextAttempt(of: delivery) }
        fact(Phrase("Event", context: "moment")) { Shown.moment(delivery.entry.happenedAt) }
        fact("Customer") { Self.customer(of: delivery) }
        fact("Number in the customer's audit log") { Shown.number(delivery.number) }
        fact("Message identifier") { Shown.identifier(delivery.messageIdentifier) }
    }

    private func path(_ segment: String) -> ConsolePath {
        ConsolePath("webhooks", endpoint.identifier, "deliveries", delivery.messageIdentifier, segment)
    }

    @HTMLBuilder private func request(_ message: SignedWebhook) -> HTML {
        let command = MessageCommand(message: message, url: endpoint.shownURL(to: context), isSigned: isSigned)
        part("Request") {
            p(.class("note")) {
                "Each attempt sends this body, with its own time and signature."
                if endpoint.format == .revenueCat {
                    plain(" ")
                    "A later attempt states the purchase as it is then."
                }
            }
            Facts.list {
                fact("POST to") { data(endpoint.origin) }
                for each in command.headers { fact(Phrase(same: each.name)) { header(each) } }
            }
            h3 { "Body" }
            pre { data(String(decoding: message.body, as: UTF8.self)) }
        }
        part("As a curl command") {
            pre(.id("curl")) { plain(command.text) }
            p(.class("actions")) { Shown.copyButton(for: "curl") }
            p(.class("note")) {
                if isSigned {
                    "Signed now. Receivers accept a signature for some minutes."
                } else {
                    "Replace the placeholders: only administrators see the whole address and a signature."
                }
            }
        }
    }

    /// True if the message has a signature, which only administrators get.
    private var isSigned: Bool { context.may(.administer) }

    @HTMLBuilder private func header(_ header: (name: String, value: String)) -> HTML {
        switch header.name {
        case MessageCommand.signatureHeader:
            HTML { "Made with the endpoint's secret" }
        case MessageCommand.authorizationHeader:
            HTML { "The endpoint's authorization" }
        default: data(header.value)
        }
    }

    /// A link to the customer whose change the message reports.
    static func customer(of delivery: WebhookDelivery) -> HTML {
        guard let user = User(issuer: delivery.issuer, name: delivery.name) else { return data(delivery.name) }
        return Shown.link(to: user)
    }

    /// The time of the next attempt. A new or resent message is due at once.
    static func nextAttempt(of delivery: WebhookDelivery) -> HTML {
        guard delivery.state == .pending else { return Shown.nothing }
        return delivery.attempts == 0 ? HTML { "At once" } : Shown.moment(delivery.nextAttemptAt)
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

    /// The header fields of the request.
    var headers: [(name: String, value: String)] {
        [("content-type", "application/json"), ("user-agent", "Till")]
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
