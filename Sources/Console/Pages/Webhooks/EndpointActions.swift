import Features
import Proofs

/// The actions on an endpoint that the member may take.
struct EndpointActions {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    /// The moment at which a further period begins; nil for none.
    let continuation: Timestamp?
    let now: Timestamp

    var html: HTML {
        HTML {
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
    }

    private func path(_ segments: String...) -> ConsolePath {
        ConsolePath(["webhooks", endpoint.identifier] + segments)
    }

    private var failed: HTML {
        details(.class("action")) {
            summary { "Send all given-up messages again" }
            context.form(to: path("failed", "resending")) {
                p(.class("note")) { "The oldest \(Shown.digits(Int64(WebhookService.changedAtOnce))) at once." }
                button(.class("primary")) { "Send again" }
            }
        }
    }

    private var period: HTML {
        details(.class("action"), continuation == nil ? nil : .open) {
            summary { "Send the messages of a period again" }
            context.form(to: path("period", "resending")) {
                Field.moment("from", "From (UTC)", value: continuation ?? now.adding(days: -1))
                Field.moment("until", "Until (UTC)", value: now)
                p(.class("note")) {
                    "Delivered messages too, oldest first, at most 10,000 at once. Receivers recognize a repetition by webhook-id. Delivered messages are kept for 30 days."
                }
                button(.class("primary")) { "Send again" }
            }
        }
    }

    private var rotation: HTML {
        details(.class("action")) {
            summary { "Replace the secret" }
            context.form(to: path("secret")) {
                Field.choice(
                    "overlap", "The old secret still signs for",
                    WebhooksRoutes.overlaps.map { (String($0), WebhookWords.period($0)) },
                    chosen: String(WebhookService.standardOverlap))
                button(.class("primary")) { "Replace" }
            }
        }
    }

    private var address: HTML {
        details(.class("action")) {
            summary { "Change the address" }
            context.form(to: path("address")) {
                Field.text(
                    "url", "Address", value: endpoint.url, inputMode: "url",
                    maximumLength: WebhookURL.maximumLength, isRequired: true,
                    note: "Waiting messages go there, too.")
                button(.class("primary")) { "Save" }
            }
        }
    }

    private var authorization: HTML {
        details(.class("action")) {
            summary { "Change the authorization" }
            context.form(to: path("authorization")) {
                Self.authorizationField
                button(.class("primary")) { "Save" }
            }
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
        details(.class("action")) {
            summary { "Remove the endpoint" }
            context.form(to: path("removal")) {
                p { "Its waiting messages are not sent, and its messages are deleted." }
                button(.class("danger")) { "Remove" }
            }
        }
    }
}
