import Ledger
import Proofs

/// The error of a use case of webhooks.
package enum WebhookError: CodedError, Equatable {
    /// The reason completes the sentence "The URL of a webhook must …".
    case urlInvalid(reason: String)
    case addressPrivate
    case tooMany
    case notFound
    case messageNotFound
    case secretBeingReplaced

    package var code: String {
        switch self {
        case .urlInvalid: "webhookURLInvalid"
        case .addressPrivate: "webhookAddressPrivate"
        case .tooMany: "webhooksTooMany"
        case .notFound: "webhookNotFound"
        case .messageNotFound: "webhookMessageNotFound"
        case .secretBeingReplaced: "webhookSecretBeingReplaced"
        }
    }

    package var message: String {
        switch self {
        case .urlInvalid(let reason): "The URL of a webhook must \(reason)."
        case .addressPrivate:
            "The address of the webhook is not public. Choose another URL, or allow such addresses with "
                + "`webhook-private-addresses`."
        case .tooMany: "There are already \(WebhookService.maximumEndpoints) webhooks. Remove one first."
        case .notFound: "There is no webhook with this identifier."
        case .messageNotFound: "The webhook has no message with this identifier."
        case .secretBeingReplaced:
            "The secret is being replaced, and the previous one is still valid. Wait until it ends, or set "
                + "`previousSecretSeconds` to 0 to end it now."
        }
    }
}
