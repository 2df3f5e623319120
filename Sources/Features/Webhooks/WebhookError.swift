import Ledger
import Proofs

/// The error of a use case of webhooks.
package enum WebhookError: RuledError, Equatable {
    /// The reason completes the sentence "The URL of a webhook must …".
    case urlInvalid(reason: String)
    case addressPrivate
    case tooMany
    case notFound
    case messageNotFound
    case secretBeingReplaced

    package var rule: ErrorRule {
        switch self {
        case .urlInvalid(let reason):
            ErrorRule(
                "webhookURLInvalid", .unprocessable, hasReason: true, "The URL of a webhook must \(reason).",
                korean: "웹훅의 URL이 올바르지 않습니다.")
        case .addressPrivate:
            ErrorRule(
                "webhookAddressPrivate", .unprocessable,
                "The address of the webhook is not public. Choose another URL, or allow such addresses with "
                    + "`webhook-private-addresses`.",
                korean: "웹훅의 주소가 공개 주소가 아닙니다. 다른 URL을 고르거나, `webhook-private-addresses`로 허용하세요.")
        case .tooMany:
            ErrorRule(
                "webhooksTooMany", .conflict,
                "There are already \(WebhookService.maximumEndpoints) webhooks. Remove one first.",
                korean: "웹훅이 이미 한도만큼 있습니다. 먼저 하나를 삭제하세요.")
        case .notFound:
            ErrorRule(
                "webhookNotFound", .notFound, "There is no webhook with this identifier.",
                korean: "이 식별자의 웹훅이 없습니다.")
        case .messageNotFound:
            ErrorRule(
                "webhookMessageNotFound", .notFound, "The webhook has no message with this identifier.",
                korean: "웹훅에 이 식별자의 메시지가 없습니다.")
        case .secretBeingReplaced:
            ErrorRule(
                "webhookSecretBeingReplaced", .conflict,
                "The secret is being replaced, and the previous one is still valid. Wait until it ends, or set "
                    + "`previousSecretSeconds` to 0 to end it now.",
                korean: "비밀 값을 교체하는 중이며, 이전 값이 아직 유효합니다. 이전 값의 기간이 끝날 때까지 기다리세요.")
        }
    }
}
