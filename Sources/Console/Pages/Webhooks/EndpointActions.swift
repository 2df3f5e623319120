import Features
import Proofs

/// The actions on an endpoint that the member may take.
struct EndpointActions {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    /// The moment at which a further period begins; nil for none.
    let continuation: Timestamp?
    let now: Timestamp

    @HTMLBuilder var html: HTML {
        if context.may(.support) {
            failed
            period
        }
        if context.may(.administer) {
            p(.class("actions")) { a(.class("button"), .href(path("secret"))) { "Show the secret" } }
            rotation
            address
            authorization
            removal
        }
    }

    private func path(_ segments: String...) -> ConsolePath {
        ConsolePath(["webhooks", endpoint.identifier] + segments)
    }

    private var failed: HTML {
        context.action("Send all given-up messages again", to: path("failed", "resending"), submit: "Send again") {
            note("The oldest \(Shown.digits(Int64(WebhookService.changedAtOnce))) at once.")
        }
    }

    private var period: HTML {
        details(.class("action"), continuation == nil ? nil : .open) {
            summary { "Send the messages of a period again" }
            context.form(to: path("period", "resending")) {
                Field.moment("from", "From (UTC)", value: continuation ?? now.adding(days: -1))
                Field.moment("until", "Until (UTC)", value: now)
                note(
                    "Delivered messages too, oldest first, at most 10,000 at once. Receivers recognize a repetition by webhook-id. Delivered messages are kept for 30 days."
                )
                button(.class("primary")) { "Send again" }
            }
        }
    }

    private var rotation: HTML {
        context.action("Replace the secret", to: path("secret"), submit: "Replace") {
            Field.choice(
                "overlap", "The old secret still signs for",
                WebhooksRoutes.overlaps.map { (String($0), WebhookWords.period($0)) },
                chosen: String(WebhookService.standardOverlap))
        }
    }

    private var address: HTML {
        context.action("Change the address", to: path("address"), submit: "Save") {
            Field.text(
                "url", "Address", value: endpoint.url, inputMode: "url",
                maximumLength: WebhookURL.maximumLength, isRequired: true,
                note: "Waiting messages go there, too.")
        }
    }

    private var authorization: HTML {
        context.action("Change the authorization", to: path("authorization"), submit: "Save") {
            Self.authorizationField
        }
    }

    /// The field for the header `Authorization` of an endpoint's messages. It never shows the present value, a secret.
    static var authorizationField: HTML {
        Field.text(
            "authorization", "Authorization header",
            maximumLength: WebhookAuthorization.maximumLength,
            note: "Each message has this value, which your back end can compare. Leave it empty for none.")
    }

    private var removal: HTML {
        context.action("Remove the endpoint", to: path("removal"), submit: "Remove", .danger) {
            p { "Its waiting messages are not sent, and its messages are deleted." }
        }
    }
}
