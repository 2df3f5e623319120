import Features
import Ledger
import Proofs

extension WebhookDeliveryResource {
    init(_ delivery: WebhookDelivery, _ content: WebhookContent?) {
        let (message, event): (WebhookMessage?, RevenueCatEvent?) =
            switch content {
            case .till(let message): (message, nil)
            case .revenueCat(let event): (nil, event)
            case nil: (nil, nil)
            }
        self.init(
            messageId: delivery.messageIdentifier, state: delivery.state.rawValue, attempts: delivery.attempts,
            lastAttempt: delivery.lastAttempt.map { Attempt($0) },
            nextAttemptAt: delivery.attempts == 0 ? nil : delivery.nextAttemptAt?.rfc3339, message: message,
            revenueCatMessage: event.flatMap { JSONContent(json: $0.text) })
    }
}

extension WebhookDeliveryResource.Attempt {
    init(_ attempt: WebhookDelivery.Attempt) {
        let (status, error): (Int?, String?) =
            switch attempt.outcome {
            case .answered(let status): (status, nil)
            case .unanswered(let code): (nil, code)
            case nil: (nil, nil)
            }
        self.init(
            attemptedAt: attempt.at.rfc3339, status: status, error: error, durationMilliseconds: attempt.milliseconds,
            response: attempt.response)
    }
}
