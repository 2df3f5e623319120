import Features
import Proofs

/// The secrets of an endpoint, for administrators.
struct EndpointSecretPage {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    let now: Timestamp

    var page: Page {
        let secrets = endpoint.secrets(at: now).map(\.description)
        return Page(Phrase("Secret of a webhook", "웹훅의 비밀 값"), section: .webhooks) {
            p {
                a(.href(ConsolePath("webhooks", endpoint.identifier))) { data(endpoint.url) }
            }
            p {
                Phrase(
                    "Your back end verifies the signature of each message with this secret (Standard Webhooks).",
                    "백엔드는 이 비밀 값으로 각 메시지의 서명을 확인합니다(Standard Webhooks).")
            }
            for (index, secret) in secrets.enumerated() {
                section(.class("card")) {
                    h2 { index == 0 ? Phrase("Secret", "비밀 값") : Phrase("Previous secret", "이전 비밀 값") }
                    p { code(.class("secret"), .id("secret-\(index)")) { plain(secret) } }
                    p(.class("actions")) {
                        Shown.copyButton(for: "secret-\(index)")
                    }
                    if index > 0 {
                        p {
                            Phrase("Signs until", "서명 기한")
                            plain(": ")
                            Shown.moment(endpoint.previousSecret?.endsAt)
                        }
                    }
                }
            }
            if let authorization = endpoint.authorization {
                section(.class("card")) {
                    h2 { Phrase("Authorization header", "Authorization 헤더") }
                    p { code(.class("secret"), .id("authorization")) { plain(authorization.value) } }
                    p(.class("actions")) {
                        Shown.copyButton(for: "authorization")
                    }
                }
            }
        }
    }
}
