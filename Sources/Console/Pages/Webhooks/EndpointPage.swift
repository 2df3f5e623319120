import Features
import Proofs

/// The page of an endpoint with its deliveries.
struct EndpointPage {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    /// The names of API keys by their identifiers.
    let keys: [String: String]
    /// The state of the shown deliveries; nil for all.
    let state: WebhookDelivery.State?
    let deliveries: [(delivery: WebhookDelivery, type: String?)]
    let nextCursor: String?
    let changes: [WebhookChange]
    let now: Timestamp
    /// The number of messages that the member has sent again; nil if the page does not follow such a form.
    let resent: Int?
    /// The moment of the last message that was sent again, if there may be more.
    let continuation: Timestamp?

    var page: Page {
        Page("Webhook", section: .webhooks) {
            if let resent { confirmation(resent) }
            section(.class("card")) {
                h2 { data(endpoint.shownURL(to: context)) }
                Facts.list(facts)
            }
            EndpointActions(context: context, endpoint: endpoint, continuation: continuation, now: now).html
            part("Messages") {
                tabs
                messages
            }
            part("Changes by the team") {
                Listing.table("The last changes, newest first", of: changes, empty: "None was recorded.") {
                    column("Time") { Shown.moment($0.happenedAt) }
                    column("Change") { WebhookWords.change($0.event) }
                    column("By") { ActorWords.html(caller: $0.changedBy, keys) }
                    column("Detail") { detail(of: $0) }
                }
            }
        }
    }

    private func confirmation(_ count: Int) -> HTML {
        p(.class("notice"), .role("status")) {
            "\(Shown.digits(Int64(count))) messages will be sent again."
            if continuation != nil {
                plain(" ")
                "There may be more: the form now begins where this one ended."
            } else if count == WebhookService.changedAtOnce {
                plain(" ")
                "There may be more. Repeat it."
            }
        }
    }

    @FactsBuilder private var facts: [Fact] {
        let hasPrevious = endpoint.secrets(at: now).count > 1
        fact("Identifier") { Shown.identifier(endpoint.identifier) }
        fact("Format") { WebhookWords.title(of: endpoint.format) }
        fact("Authorization header") { endpoint.authorization == nil ? "None" : "Set" }
        fact("Added") { Shown.moment(endpoint.createdAt) }
        fact(Phrase("By", context: "added")) { ActorWords.html(caller: endpoint.createdBy, keys) }
        fact("Previous secret valid until") {
            hasPrevious ? Shown.moment(endpoint.previousSecret?.endsAt) : Shown.nothing
        }
    }

    private var tabs: HTML {
        Tabs.list("States of messages") {
            Tabs.link("All", to: path(nil), isPresent: state == nil)
            for each in WebhookDelivery.State.allCases {
                Tabs.link(WebhookWords.title(of: each), to: path(each), isPresent: each == state)
            }
        }
    }

    private func path(_ state: WebhookDelivery.State?, cursor: String? = nil) -> ConsolePath {
        ConsolePath("webhooks", endpoint.identifier, query: ["state": state?.rawValue, "cursor": cursor])
    }

    private var messages: HTML {
        Listing.table(
            "Messages, newest first", of: deliveries,
            empty: "No message.", next: nextCursor.map { path(state, cursor: $0) }
        ) {
            column(Phrase("Event", context: "moment")) { Shown.moment($0.delivery.entry.happenedAt) }
            column("Message") { shown in
                let message = shown.delivery.messageIdentifier
                a(.href(ConsolePath("webhooks", endpoint.identifier, "deliveries", message))) {
                    data(shown.type ?? message)
                }
            }
            column("Customer") { DeliveryPage.customer(of: $0.delivery) }
            column("State") { WebhookWords.badge($0.delivery.state) }
            column("Attempts") { Shown.number(Int64($0.delivery.attempts)) }
            column("Last attempt") { $0.delivery.lastAttempt.map { WebhookWords.outcome(of: $0) } ?? Shown.nothing }
            column("Next attempt") { DeliveryPage.nextAttempt(of: $0.delivery) }
        }
    }

    private func detail(of change: WebhookChange) -> HTML {
        guard let detail = change.detail else { return Shown.nothing }
        switch change.event {
        // An address may contain a token.
        case .urlChanged where !context.may(.administer): return Shown.nothing
        case .secretReplaced: return HTML { WebhookWords.period(Int64(detail) ?? 0) }
        case .authorizationChanged:
            return HTML { detail == "set" ? "Set" : "Removed" }
        default: return data(detail)
        }
    }
}

/// The secrets of an endpoint, for administrators.
struct EndpointSecretPage {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    let now: Timestamp

    var page: Page {
        let secrets = endpoint.secrets(at: now).map(\.description)
        return Page("Secret of a webhook", section: .webhooks) {
            p { a(.href(ConsolePath("webhooks", endpoint.identifier))) { data(endpoint.url) } }
            p { "Your back end verifies the signature of each message with this secret (Standard Webhooks)." }
            for (index, secret) in secrets.enumerated() {
                section(.class("card")) {
                    h2 { index == 0 ? "Secret" : "Previous secret" }
                    p { code(.class("secret"), .id("secret-\(index)")) { plain(secret) } }
                    p(.class("actions")) { Shown.copyButton(for: "secret-\(index)") }
                    if index > 0 {
                        p {
                            "Signs until"
                            plain(": ")
                            Shown.moment(endpoint.previousSecret?.endsAt)
                        }
                    }
                }
            }
            if let authorization = endpoint.authorization {
                card("Authorization header") {
                    p { code(.class("secret"), .id("authorization")) { plain(authorization.value) } }
                    p(.class("actions")) { Shown.copyButton(for: "authorization") }
                }
            }
        }
    }
}
