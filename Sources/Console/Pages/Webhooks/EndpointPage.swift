import Features
import HTTPSupport
import Hummingbird
import Proofs

extension WebhooksRoutes {
    private static let shownChanges = 20

    func endpoint(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let endpoint = try await webhooks.endpoint(try context.parameters.text("webhook"))
        let state = try request.query("state").flatMap { WebhookDelivery.State(rawValue: $0) }
        let (shown, next) = try await HTTPSupport.Page(request).list(at: WebhookDeliveryPosition.init) {
            try await webhooks.deliveries(to: endpoint.identifier, in: state, before: $0, limit: $1)
        }
        let types = try await webhooks.contents(of: shown, to: endpoint).map { $0?.type }
        let keys = try await services.entitlements.ledger.apiKeyNames()
        let changes = try await webhooks.changes(of: endpoint.identifier, limit: Self.shownChanges)
        // The number of messages that the member has sent again; nil if the page does not follow such a form.
        let resent = try request.query("resent").flatMap(Int.init)
        // The moment of the last message that was sent again, if there may be more.
        let continuation = try request.query("after").flatMap { Timestamp(rfc3339: $0) }
        let now = webhooks.now()
        return Page("Webhook", section: .webhooks) {
            if let resent {
                p(.class("notice"), .role("status")) {
                    "\(Shown.digits(Int64(resent))) messages will be sent again."
                    if continuation != nil {
                        also(Phrase("There may be more: the form now begins where this one ended."))
                    } else if resent == WebhookService.changedAtOnce {
                        also(Phrase("There may be more. Repeat it."))
                    }
                }
            }
            section(.class("card")) {
                h2 { data(endpoint.shownURL(to: context)) }
                Facts.list {
                    let hasPrevious = endpoint.secrets(at: now).count > 1
                    fact("Identifier") { Shown.identifier(endpoint.identifier) }
                    fact("Format") { WebhookWords.title(of: endpoint.format) }
                    fact("Authorization header") { endpoint.authorization == nil ? "None" : "Set" }
                    fact("Added") { Shown.moment(endpoint.createdAt) }
                    fact(Phrase("By", context: "added")) { ActorWords.html(caller: endpoint.createdBy, keys) }
                    fact("Previous secret valid until") {
                        hasPrevious ? Shown.moment(endpoint.previousSecretEndsAt) : Shown.nothing
                    }
                }
            }
            if context.may(.support) { Self.resending(endpoint, context, from: continuation, now) }
            if context.may(.administer) {
                p(.class("actions")) { a(.class("button"), .href(endpoint.path(of: "secret"))) { "Show the secret" } }
                context.action("Replace the secret", to: endpoint.path(of: "secret"), submit: "Replace") {
                    Self.overlap
                }
                context.action("Change the address", to: endpoint.path(of: "address"), submit: "Save") {
                    Self.changedAddress.html(endpoint.url)
                }
                context.action("Change the authorization", to: endpoint.path(of: "authorization"), submit: "Save") {
                    Self.authorization
                }
                context.action("Remove the endpoint", to: endpoint.path(of: "removal"), submit: "Remove", .danger) {
                    p { "Its waiting messages are not sent, and its messages are deleted." }
                }
            }
            part("Messages") {
                Tabs.list("States of messages") {
                    Tabs.link("All", to: endpoint.path(), isPresent: state == nil)
                    for each in WebhookDelivery.State.allCases {
                        Tabs.link(WebhookWords.word(each).title, to: endpoint.path(each), isPresent: each == state)
                    }
                }
                Listing.table(
                    "Messages, newest first", of: zip(shown, types).map { (delivery: $0, type: $1) },
                    empty: "No message.", next: next.map { endpoint.path(state, cursor: $0) }
                ) {
                    column(Phrase("Event", context: "moment")) { Shown.moment($0.delivery.entry.happenedAt) }
                    column("Message") {
                        let message = $0.delivery.messageIdentifier
                        a(.href(endpoint.path(of: "deliveries", message)), data($0.type ?? message))
                    }
                    column("Customer") { WebhookWords.customer(of: $0.delivery) }
                    column("State") { Shown.badge(WebhookWords.word($0.delivery.state)) }
                    column("Attempts") { Shown.number(Int64($0.delivery.attempts)) }
                    column("Last attempt") {
                        $0.delivery.lastAttempt.map { WebhookWords.outcome(of: $0) } ?? Shown.nothing
                    }
                    column("Next attempt") { WebhookWords.nextAttempt(of: $0.delivery) }
                }
            }
            part("Changes by the team") {
                Listing.table("The last changes, newest first", of: changes, empty: "None was recorded.") {
                    column("Time") { Shown.moment($0.happenedAt) }
                    column("Change") { WebhookWords.change($0.event) }
                    column("By") { ActorWords.html(caller: $0.changedBy, keys) }
                    column("Detail") { Self.detail(of: $0, context) }
                }
            }
        }
    }

    /// - Parameter continuation: The moment at which a further period begins; nil for none.
    @HTMLBuilder private static func resending(
        _ endpoint: WebhookEndpoint, _ context: ConsoleContext, from continuation: Timestamp?, _ now: Timestamp
    ) -> HTML {
        context.action(
            "Send all given-up messages again", to: endpoint.path(of: "failed", "resending"), submit: "Send again"
        ) {
            note("The oldest \(Shown.digits(Int64(WebhookService.changedAtOnce))) at once.")
        }
        details(.class("action"), continuation == nil ? nil : .open) {
            summary { "Send the messages of a period again" }
            context.form(to: endpoint.path(of: "period", "resending")) {
                Self.start.html(continuation ?? now.adding(days: -1))
                Self.end.html(now)
                note(
                    "Delivered messages too, oldest first, at most 10,000 at once. Receivers recognize a repetition by webhook-id. Delivered messages are kept for 30 days."
                )
                button(.class("primary")) { "Send again" }
            }
        }
    }

    private static func detail(of change: WebhookChange, _ context: ConsoleContext) -> HTML {
        guard let detail = change.detail else { return Shown.nothing }
        switch change.event {
        // An address may contain a token.
        case .urlChanged where !context.may(.administer): return Shown.nothing
        case .secretReplaced: return HTML { WebhookWords.period(Int64(detail) ?? 0) }
        case .authorizationChanged: return HTML { detail == "set" ? "Set" : "Removed" }
        default: return data(detail)
        }
    }
}
