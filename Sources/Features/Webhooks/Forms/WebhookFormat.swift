import Ledger
import Proofs
import Vocabulary

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
    /// The media type of the body.
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
