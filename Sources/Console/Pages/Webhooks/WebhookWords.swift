import Features
import Proofs
import Vocabulary

/// The states and outcomes of deliveries in plain words.
enum WebhookWords {
    static func word(_ state: WebhookDelivery.State) -> Shown.Word {
        switch state {
        case .pending: ("Waiting", .warning)
        case .delivered: ("Delivered", .good)
        case .failed: ("Given up", .bad)
        }
    }

    /// The outcome of an attempt.
    ///
    /// - Parameter outcome: Nil if the attempt has not ended.
    @HTMLBuilder static func outcome(_ outcome: WebhookDelivery.Outcome?) -> HTML {
        switch outcome {
        case .answered(let status):
            HTML { Shown.badge("Answered \(status)", (200...299).contains(status) ? .good : .bad) }
        case .unanswered(let code):
            spaced(Shown.badge(reason(code), .bad), Console.code { data(code) })
        case nil:
            Shown.badge("Under way, or the service stopped")
        }
    }

    /// The reason for a missing answer.
    private static func reason(_ code: String) -> Phrase {
        switch code {
        case "timedOut": "No answer in time"
        case "unreachable": "Not reachable"
        case "tlsFailed": "TLS failed"
        case "connectionEnded": "The connection ended"
        case "hostUnknown": "The name is unknown"
        case "addressPrivate": "The address is not public"
        default: "No answer"
        }
    }

    static func title(of format: WebhookFormat) -> Phrase {
        switch format {
        case .standard: Phrase(same: "Standard Webhooks")
        case .cloudEvents: Phrase(same: "CloudEvents")
        case .slack: Phrase(same: "Slack")
        case .revenueCat: Phrase(same: "RevenueCat")
        }
    }

    static func app(of endpoint: WebhookEndpoint) -> HTML { endpoint.app.map { data($0) } ?? HTML { "All apps" } }

    static func types(of endpoint: WebhookEndpoint) -> HTML {
        endpoint.types.map { data($0.names.joined(separator: ", ")) } ?? HTML { "All types" }
    }

    /// A link to the customer whose change a message reports.
    static func customer(of delivery: WebhookDelivery) -> HTML {
        guard let user = User(issuer: delivery.issuer, name: delivery.name) else { return data(delivery.name) }
        return Shown.link(to: user)
    }

    /// A mark by which the script loads a part of the page again, while a message of it is about to be sent.
    static func mark(_ deliveries: [WebhookDelivery], in part: String, at now: Timestamp) -> HTML? {
        let isNear = deliveries.contains { delivery in
            delivery.nextAttemptAt.map { $0 <= now.adding(seconds: 60) } ?? false
        }
        return isNear ? span(HTMLAttribute("data-reload", part)) {} : nil
    }

    /// The time of the next attempt. A new or resent message is due at once.
    static func nextAttempt(of delivery: WebhookDelivery) -> HTML? {
        guard delivery.state == .pending else { return nil }
        return delivery.attempts == 0 ? HTML { "At once" } : Shown.moment(delivery.nextAttemptAt)
    }

    static func period(_ seconds: Int64) -> Phrase {
        switch seconds {
        case 0: "Not at all: the old secret ends now"
        case 3600: "One hour"
        case 86_400: "One day"
        default: "\(seconds / 86_400) days"
        }
    }
}

extension WebhookEndpoint {
    /// The page of the endpoint.
    ///
    /// - Parameters:
    ///   - state: The state of the shown deliveries; nil for all.
    ///   - customer: The only customer of the shown deliveries, as typed; nil for all.
    func path(_ state: WebhookDelivery.State? = nil, about customer: String? = nil, cursor: String? = nil)
        -> ConsolePath
    {
        ConsolePath("webhooks", identifier, query: ["state": state?.rawValue, "customer": customer, "cursor": cursor])
    }

    /// A page below that of the endpoint, or the receiver of a form.
    func path(of segment: String, _ rest: String...) -> ConsolePath {
        ConsolePath(["webhooks", identifier, segment] + rest)
    }

    /// The address as the member may see it. Its path may contain a token, so only administrators see all of it.
    func shownURL(to context: ConsoleContext) -> String {
        guard !context.may(.administer) else { return url }
        return origin + "/…"
    }

    /// The scheme, the host and the port of the address.
    var origin: String {
        let end = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return String(url[..<(url[end...].firstIndex { "/?".contains($0) } ?? url.endIndex)])
    }
}
