import Ledger
import Proofs

/// The format of an endpoint's messages: their body and its media type. All have the headers of Standard Webhooks.
package enum WebhookFormat: String, Sendable, CaseIterable, SQLConvertible {
    /// The body that Standard Webhooks proposes.
    case standard
    /// CloudEvents 1.0, in the structured mode of HTTP.
    case cloudEvents = "cloudevents"
    /// A sentence for a channel of Slack.
    case slack
    /// The events of RevenueCat's webhooks, for back ends that already receive those.
    case revenueCat = "revenuecat"
}

extension WebhookFormat {
    package var mediaType: String { self == .cloudEvents ? "application/cloudevents+json" : "application/json" }

    /// True if messages state what the user has.
    var statesItems: Bool { self == .standard || self == .cloudEvents }

    /// The types of messages, in the order of their names.
    package var types: [String] {
        (self == .revenueCat ? RevenueCatType.allCases.map(\.rawValue) : MessageType.allCases.map(\.rawValue)).sorted()
    }

    /// The types that a message about an event may have. The purchase decides which.
    package func types(of event: AuditEntry.Event, _ companion: RevenueCatType?) -> [String] {
        guard self == .revenueCat else { return event.rule.messages.map(\.rawValue) }
        if let companion { return [companion.rawValue] }
        let own = event == .granted ? RevenueCatType.granted : [event.rule.revenueCat].compactMap(\.self)
        return own.map(\.rawValue)
    }

    /// The body of a message, which is signed.
    package func body(of notice: WebhookNotice) -> [UInt8] {
        switch self {
        case .standard: StandardForm.body(of: notice)
        case .cloudEvents: CloudEventsForm.body(of: notice)
        case .slack: SlackForm.body(of: notice)
        case .revenueCat: RevenueCatEvent.body(ofTest: notice)
        }
    }
}

/// A message before its format gives it a body.
package struct WebhookNotice: Sendable {
    /// The same in each attempt.
    package let identifier: String
    package let type: String
    package let happenedAt: Timestamp
    /// The bundle identifier of the app; nil for an event without a purchase.
    package let app: String?
    /// The transaction, the purchase or the grant; nil for a test.
    package let reference: String?
    /// The JSON of the content.
    package let data: [UInt8]
    /// The event for a person.
    package let sentence: String

    package init(
        identifier: String, type: String, happenedAt: Timestamp, app: String? = nil, reference: String? = nil,
        data: [UInt8] = Array("{}".utf8), sentence: String
    ) {
        (self.identifier, self.type, self.happenedAt) = (identifier, type, happenedAt)
        (self.app, self.reference, self.data, self.sentence) = (app, reference, data, sentence)
    }

    /// JSON with texts, and the content under `data`, in the order of the names.
    func json(_ members: [(name: String, text: String?)]) -> [UInt8] {
        let texts = members.compactMap { member in member.text.map { (member.name, JSONValue.string($0).compactText) } }
        let all = (texts + [("data", String(decoding: data, as: UTF8.self))]).sorted { $0.0 < $1.0 }
        return Array("{\(all.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}".utf8)
    }
}

/// The body that Standard Webhooks proposes: `type`, `timestamp` and `data` (standard-webhooks.md, "Payload structure").
private enum StandardForm {
    static func body(of notice: WebhookNotice) -> [UInt8] {
        notice.json([("type", notice.type), ("timestamp", notice.happenedAt.rfc3339)])
    }
}

/// The JSON of CloudEvents 1.0, whose body has all attributes (cloudevents/spec, formats/json-format.md, "Envelope").
///
/// The `subject` is the purchase and not the user: "Sensitive information SHOULD NOT be carried or represented in context
/// attributes" (spec.md, "Privacy and Security").
private enum CloudEventsForm {
    static func body(of notice: WebhookNotice) -> [UInt8] {
        notice.json([
            ("specversion", "1.0"), ("id", notice.identifier), ("source", notice.app.map { "/till/\($0)" } ?? "/till"),
            ("type", notice.type), ("subject", notice.reference), ("time", notice.happenedAt.rfc3339),
            ("datacontenttype", "application/json"),
        ])
    }
}

/// The body of Slack's incoming webhooks: `text`, a sentence for people (docs.slack.dev, "Incoming webhooks").
///
/// Strangers choose the names of users in it. So Slack reads no markup ("Disable Slack markup parsing by setting to false",
/// `ChatPostMessageArguments`), and shows no preview of an address in a name ("set both unfurl_links and unfurl_media to false",
/// slackhq/slack-api-docs, "Unfurling"). Slack may still make a link of such an address.
private enum SlackForm {
    static func body(of notice: WebhookNotice) -> [UInt8] {
        // "Slack uses &, <, and > as control characters for special parsing in text objects, so they must be converted to HTML entities"
        // (docs.slack.dev, "Formatting message text"). A name such as <!channel> would call everybody.
        let text = notice.sentence.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
            ">", with: "&gt;")
        let message: JSONObject = [
            "mrkdwn": .bool(false), "text": .string(text), "unfurl_links": .bool(false), "unfurl_media": .bool(false),
        ]
        return Array(JSONValue.object(message).compactText.utf8)
    }
}
