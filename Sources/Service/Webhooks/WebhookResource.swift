import Commerce
import HTTPSupport
import Ledger
import Webhooks

/// A webhook as the service shows it.
struct WebhookResource: Encodable, Sendable {
    let webhookId: String
    let url: String
    /// Dates are RFC 3339, UTC.
    let createdAt: String
    /// The API key's identifier.
    let createdBy: String
    /// Only where it was just made.
    let secret: String?

    /// - Parameter moment: At which its secret is shown; nil to keep it back.
    init(_ endpoint: WebhookEndpoint, showingSecretAt moment: Timestamp? = nil) {
        webhookId = endpoint.identifier
        url = endpoint.url
        createdAt = endpoint.createdAt.rfc3339
        createdBy = endpoint.createdBy
        secret = moment.flatMap { endpoint.secrets(at: $0).first?.description }
    }
}

struct WebhookList: Encodable {
    let webhooks: [WebhookResource]
}

/// With what a webhook's messages are signed.
struct WebhookSecretsResource: Encodable, Sendable {
    let secret: String
    /// Absent but while it is being replaced.
    let previousSecret: String?
    let previousSecretEndsAt: String?

    init(_ endpoint: WebhookEndpoint, at moment: Timestamp) {
        let secrets = endpoint.secrets(at: moment).map(\.description)
        secret = secrets[0]
        previousSecret = secrets.dropFirst().first
        previousSecretEndsAt = secrets.count > 1 ? endpoint.previousSecret?.endsAt.rfc3339 : nil
    }
}

/// A message that was or is on its way to a webhook.
struct WebhookDeliveryResource: Encodable, Sendable {
    struct Attempt: Encodable, Sendable {
        let attemptedAt: String
        /// What the receiver has answered; absent where it has not.
        let status: Int?
        /// Why it has not; absent where it has, or nobody knows yet.
        let error: String?

        init(_ attempt: WebhookDelivery.Attempt) {
            attemptedAt = attempt.at.rfc3339
            (status, error) =
                switch attempt.outcome {
                case .answered(let status): (status, nil)
                case .unanswered(let code): (nil, code)
                case nil: (nil, nil)
                }
        }
    }

    let messageId: String
    let state: String
    /// Since it was made, or replayed.
    let attempts: Int
    /// Absent where it was never tried.
    let lastAttempt: Attempt?
    /// Absent where it is tried no more, or is due now.
    let nextAttemptAt: String?
    /// As it is sent.
    let message: WebhookMessage?

    init(_ delivery: WebhookDelivery, _ message: WebhookMessage?) {
        messageId = delivery.messageIdentifier
        state = delivery.state.rawValue
        attempts = delivery.attempts
        lastAttempt = delivery.lastAttempt.map(Attempt.init)
        nextAttemptAt = delivery.attempts == 0 ? nil : delivery.nextAttemptAt?.rfc3339
        self.message = message
    }
}

/// A page of deliveries, newest first.
struct WebhookDeliveryList: Encodable {
    let deliveries: [WebhookDeliveryResource]
    /// What `cursor` has to be for the next page; absent on the last.
    let nextCursor: String?
}
