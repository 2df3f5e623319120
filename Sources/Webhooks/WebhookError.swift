import Commerce
import Ledger

/// Why nothing became of a webhook, or of a message to it.
public enum WebhookError: CodedError, Equatable {
    /// - reason: What the address has to be.
    case urlInvalid(reason: String)
    case addressPrivate
    case tooMany
    case notFound
    case messageNotFound
    case secretBeingReplaced

    public var code: String {
        switch self {
        case .urlInvalid: "webhookURLInvalid"
        case .addressPrivate: "webhookAddressPrivate"
        case .tooMany: "webhooksTooMany"
        case .notFound: "webhookNotFound"
        case .messageNotFound: "webhookMessageNotFound"
        case .secretBeingReplaced: "webhookSecretBeingReplaced"
        }
    }

    public var message: String {
        switch self {
        case .urlInvalid(let reason): "The address of a webhook has to be \(reason)."
        case .addressPrivate:
            "The address is of this machine or of a network that is not public: choose another, or allow such "
                + "addresses (webhook-private-addresses)."
        case .tooMany: "There are \(WebhookService.maximumEndpoints) webhooks already: remove one first."
        case .notFound: "There is no webhook of this identifier."
        case .messageNotFound: "Nothing of this identifier was or is on its way to the webhook."
        case .secretBeingReplaced:
            "The secret is being replaced, and the one before is still good: wait until it ends, or replace it with "
                + "a previousSecretSeconds of 0, which ends it now."
        }
    }
}
