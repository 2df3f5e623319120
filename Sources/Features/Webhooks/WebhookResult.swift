import Ledger
import Proofs

/// The result of an attempt to deliver a message.
package struct WebhookResult: Hashable, Sendable {
    /// The delivery when it was leased.
    package let delivery: WebhookDelivery
    package let outcome: WebhookDelivery.Outcome
    /// The time of the next attempt; nil if the message was delivered or given up.
    let nextAttemptAt: Timestamp?
    /// The duration of the attempt; nil if it is unknown.
    package let milliseconds: Int64?
    /// The beginning of the answer's body; nil for an answer without a body.
    package let response: String?

    /// True if only a replay makes another attempt.
    package var isGivenUp: Bool { !outcome.isDelivery && nextAttemptAt == nil }

    package init(
        of delivery: WebhookDelivery,
        _ outcome: WebhookDelivery.Outcome,
        nextAttemptAt: Timestamp?,
        milliseconds: Int64? = nil,
        response: WebhookResponse? = nil
    ) {
        self.delivery = delivery
        self.outcome = outcome
        self.nextAttemptAt = nextAttemptAt
        self.milliseconds = milliseconds
        self.response = response?.text
    }
}

/// The beginning of the body of a receiver's answer, as text.
package struct WebhookResponse: Hashable, Sendable {
    /// The largest number of bytes that are read of a body, and of the text in UTF-8.
    package static let maximumLength = 1024

    package let text: String

    /// - Parameter bytes: The beginning of the body. Invalid UTF-8 and NUL become the replacement character.
    /// - Returns: Nil for an empty body.
    package init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return nil }
        var text = ""
        var length = 0
        for scalar in String(decoding: bytes.prefix(Self.maximumLength), as: UTF8.self).unicodeScalars {
            // PostgreSQL's texts have no NUL.
            let kept: Unicode.Scalar = scalar == "\0" ? "\u{FFFD}" : scalar
            // A replacement is longer than the byte that it replaces.
            length += String(kept).utf8.count
            guard length <= Self.maximumLength else { break }
            text.unicodeScalars.append(kept)
        }
        self.text = text
    }
}

/// The value of the header `Authorization` of each message. The team sets it, and its receiver compares it.
///
/// It is a secret, so its description hides it.
package struct WebhookAuthorization: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, in bytes.
    package static let maximumLength = 1024

    package let value: String

    /// - Returns: Nil unless the value is 1 to `maximumLength` printable ASCII characters, with spaces only between others.
    package init?(_ value: String) {
        guard (1...Self.maximumLength).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), value.utf8.first != 0x20, value.utf8.last != 0x20
        else { return nil }
        self.value = value
    }

    package var description: String { "hidden" }
}

/// An endpoint of a team's back end that receives webhooks.
package struct WebhookEndpoint: Hashable, Sendable {
    package let identifier: String
    package let url: String
    /// The format of the messages, which never changes.
    package let format: WebhookFormat
    package let createdAt: Timestamp
    /// The identifier of the API key that created the endpoint.
    package let createdBy: String
    /// The secret that signs messages.
    package internal(set) var secret: [UInt8]
    /// The previous secret, which also signs messages until it ends; nil if the secret was never replaced.
    package internal(set) var previousSecret: [UInt8]?
    /// The end of the previous secret; nil if there is none.
    package internal(set) var previousSecretEndsAt: Timestamp?
    /// The header `Authorization` of each message; nil for none.
    package let authorization: WebhookAuthorization?
    /// The bundle identifier of the only app whose events it receives, that of the key that created it; nil for all events.
    package let app: String?

    package init(
        identifier: String,
        url: String,
        format: WebhookFormat = .till,
        createdAt: Timestamp,
        createdBy: String,
        secret: [UInt8],
        previousSecret: [UInt8]? = nil,
        previousSecretEndsAt: Timestamp? = nil,
        authorization: WebhookAuthorization? = nil,
        app: String? = nil
    ) {
        self.identifier = identifier
        self.url = url
        self.format = format
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.secret = secret
        self.previousSecret = previousSecret
        self.previousSecretEndsAt = previousSecretEndsAt
        self.authorization = authorization
        self.app = app
    }
}

/// The format of an endpoint's messages.
package enum WebhookFormat: String, Sendable, CaseIterable, SQLConvertible {
    case till
    /// The events of RevenueCat's webhooks, for back ends that already receive those.
    case revenueCat = "revenuecat"

    /// True if an entry of the audit log has a message in this format.
    func hasMessage(about entry: AuditEntry) -> Bool {
        switch self {
        case .till: entry.event.messageKinds != nil
        case .revenueCat: RevenueCatEvent.isSent(about: entry)
        }
    }
}

/// The retry schedule of failed deliveries: growing delays for three days.
package enum WebhookSchedule {
    package static let delays: [Int64] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
}
