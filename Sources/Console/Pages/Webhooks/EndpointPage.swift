import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

extension WebhooksRoutes {
    private static let shownChanges = 20

    func endpoint(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let endpoint = try await webhooks.endpoint(try context.parameters.text("webhook"))
        let keys = try await services.ledger.apiKeyNames()
        let messages = try await messages(request, to: endpoint)
        let changes = try await webhooks.changes(of: endpoint.identifier, limit: Self.shownChanges)
        // The moment of the last message that was sent again, if there may be more.
        let continuation = try request.query("after").flatMap { Timestamp(rfc3339: $0) }
        let notices = try Self.notices(request, isContinued: continuation != nil)
        let now = webhooks.now()
        return Page("Webhook", section: .webhooks) {
            notices
            section(.class("card")) {
                h2 { data(endpoint.shownURL(to: context)) }
                Facts.list {
                    fact("Identifier") { Shown.identifier(endpoint.identifier) }
                    fact("Format") { WebhookWords.title(of: endpoint.format) }
                    fact("App") { WebhookWords.app(of: endpoint) }
                    fact("Types of messages") { WebhookWords.types(of: endpoint) }
                    fact("Authorization header") { endpoint.authorization == nil ? "None" : "Set" }
                    fact("Added") { Shown.moment(endpoint.createdAt) }
                    fact(Phrase("By", context: "added")) { ActorWords.html(caller: endpoint.createdBy, keys) }
                    fact("Previous secret valid until") {
                        if endpoint.secrets(at: now).count > 1 { Shown.moment(endpoint.previousSecretEndsAt) }
                    }
                }
            }
            if context.may(.support) {
                context.form(to: endpoint.path(of: "test"), .class("actions")) {
                    button { "Send a test message" }
                }
                Self.resending(endpoint, context, from: continuation, now)
            }
            if context.may(.administer) { administration(of: endpoint, context) }
            part("Messages") { messages }
            part("Changes by the team") {
                Listing.table("The last changes, newest first", of: changes, empty: "None was recorded.") {
                    column("Time") { Shown.moment($0.happenedAt) }
                    column("Change") { Phrase($0.event.title) }
                    column("By") { ActorWords.html(caller: $0.changedBy, keys) }
                    column("Detail") { Self.detail(of: $0, context) }
                }
            }
        }
    }

    /// The outcome of the form that led to the page, in the parameters of the address.
    ///
    /// - Parameter isContinued: True if the form that sends messages again begins where the last one ended.
    private static func notices(_ request: Request, isContinued: Bool) throws -> HTML {
        let tested = try request.query("tested").map { text in
            Int(text).map { WebhookDelivery.Outcome.answered(status: $0) } ?? .unanswered(code: text)
        }
        let resent = try request.query("resent").flatMap(Int.init)
        return HTML {
            if let tested {
                p(.class("notice"), .role("status")) {
                    "The test message was sent: "
                    WebhookWords.outcome(tested)
                }
            }
            if let resent {
                p(.class("notice"), .role("status")) {
                    "\(Shown.digits(resent)) messages will be sent again."
                    if isContinued {
                        also(Phrase("There may be more: the form now begins where this one ended."))
                    } else if resent == WebhookService.changedAtOnce {
                        also(Phrase("There may be more. Repeat it."))
                    }
                }
            }
        }
    }

    /// The forms that change or remove the endpoint.
    @HTMLBuilder private func administration(of endpoint: WebhookEndpoint, _ context: ConsoleContext) -> HTML {
        p(.class("actions")) { a(.class("button"), .href(endpoint.path(of: "secret"))) { "Show the secret" } }
        context.action("Replace the secret", to: endpoint.path(of: "secret"), submit: "Replace") { Self.overlap }
        context.action("Change the address", to: endpoint.path(of: "address"), submit: "Save") {
            Self.changedAddress.html(endpoint.url)
        }
        context.action("Change the messages", to: endpoint.path(of: "messages"), submit: "Save") {
            hidden(Self.shownApp, endpoint.app ?? "")
            if let app = Field.app(apps(for: endpoint), empty: "All apps", chosen: endpoint.app) {
                app
                note("Another app gives the endpoint a new secret at once, and removes its authorization.")
            }
            Self.types.html(endpoint.types?.names.joined(separator: " "))
        }
        context.action("Change the authorization", to: endpoint.path(of: "authorization"), submit: "Save") {
            Self.authorization
        }
        context.action("Remove the endpoint", to: endpoint.path(of: "removal"), submit: "Remove", .danger) {
            p { "Its waiting messages are not sent, and its messages are deleted." }
        }
    }

    /// The messages to an endpoint of the state or the customer in the address.
    private func messages(_ request: Request, to endpoint: WebhookEndpoint) async throws -> HTML {
        let state = try request.query("state").flatMap { WebhookDelivery.State(rawValue: $0) }
        let customer = (try request.query("customer", upTo: User.maximumCustomerLength) ?? "")
            .trimmingCharacters(in: .whitespaces)
        let (shown, next) = try await messages(request, to: endpoint, in: state, about: customer)
        let types = try await webhooks.types(of: shown, to: endpoint)
        let now = webhooks.now()
        return HTML {
            Tabs.choices("States of messages", [nil] + WebhookDelivery.State.allCases, present: state) {
                $0.map { WebhookWords.word($0).title } ?? "All"
            } path: {
                endpoint.path($0)
            }
            filters(endpoint.path()) {
                Field.text("customer", "Customer's name or account token", value: customer)
            }
            div(.id("messages")) {
                WebhookWords.mark(shown, in: "messages", at: now)
                Self.table(
                    of: zip(shown, types).map { (delivery: $0, type: $1) }, to: endpoint,
                    next: next.map { endpoint.path(state, about: customer.isEmpty ? nil : customer, cursor: $0) })
            }
        }
    }

    /// A page of the messages to an endpoint, and the cursor of the next page.
    ///
    /// - Parameter customer: The name or the account token of the only customer; empty for all messages of a state.
    private func messages(
        _ request: Request, to endpoint: WebhookEndpoint, in state: WebhookDelivery.State?, about customer: String
    ) async throws -> ([WebhookDelivery], String?) {
        let page = try RequestedPage(request)
        guard !customer.isEmpty else {
            return try await page.list(at: WebhookDeliveryPosition.init) {
                try await webhooks.deliveries(to: endpoint.identifier, in: state, before: $0, limit: $1)
            }
        }
        let user = try await services.user(named: customer)
        return try await page.list(at: WebhookDeliveryNumber.init) {
            try await webhooks.deliveries(to: endpoint.identifier, about: user, before: $0, limit: $1)
        }
    }

    private typealias Message = (delivery: WebhookDelivery, type: String?)

    private static func table(of messages: [Message], to endpoint: WebhookEndpoint, next: ConsolePath?) -> HTML {
        Listing.table("Messages, newest first", of: messages, empty: "No message.", next: next) {
            column(Phrase("Event", context: "moment")) { Shown.moment($0.delivery.entry.happenedAt) }
            column("Message") {
                let message = $0.delivery.messageIdentifier
                a(.href(endpoint.path(of: "deliveries", message)), data($0.type ?? message))
            }
            column("Customer") { WebhookWords.customer(of: $0.delivery) }
            column("State") { Shown.badge(WebhookWords.word($0.delivery.state)) }
            column("Attempts") { Shown.number($0.delivery.attempts) }
            column("Last attempt") { $0.delivery.lastAttempt.map { WebhookWords.outcome($0.outcome) } }
            column("Next attempt") { WebhookWords.nextAttempt(of: $0.delivery) }
        }
    }

    /// - Parameter continuation: The moment at which a further period begins; nil for none.
    @HTMLBuilder private static func resending(
        _ endpoint: WebhookEndpoint, _ context: ConsoleContext, from continuation: Timestamp?, _ now: Timestamp
    ) -> HTML {
        context.action(
            "Send all given-up messages again", to: endpoint.path(of: "failed", "resending"), submit: "Send again"
        ) {
            note("The oldest \(Shown.digits(WebhookService.changedAtOnce)) at once.")
        }
        context.action(
            "Send the messages of a period again", to: endpoint.path(of: "period", "resending"), submit: "Send again",
            isOpen: continuation != nil
        ) {
            Self.start.html(continuation ?? now.adding(days: -1))
            Self.end.html(now)
            note(
                "Delivered messages too, oldest first, at most 10,000 at once. Receivers recognize a repetition by webhook-id. Delivered messages are kept for 30 days."
            )
        }
    }

    private static func detail(of change: WebhookChange, _ context: ConsoleContext) -> HTML? {
        guard let detail = change.detail else { return nil }
        switch change.event {
        // An address may contain a token.
        case .urlChanged where !context.may(.administer): return nil
        case .secretReplaced: return HTML { WebhookWords.period(Int64(detail) ?? 0) }
        case .authorizationChanged: return HTML { detail == "set" ? "Set" : "Removed" }
        default: return data(detail)
        }
    }
}
