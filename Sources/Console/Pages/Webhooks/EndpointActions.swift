import Features
import Proofs

/// The actions on an endpoint that the member may take.
struct EndpointActions {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    /// The moment at which a further period begins; nil for none.
    let continuation: Timestamp?
    let now: Timestamp

    var html: HTML {
        HTML {
            if context.may(.support) {
                failed
                period
            }
            if context.may(.administer) {
                p(.class("actions")) {
                    a(.class("button"), .href(path("secret"))) { Phrase("Show the secret", "비밀 값 보기") }
                }
                rotation
                address
                authorization
                removal
            }
        }
    }

    private func path(_ segments: String...) -> ConsolePath {
        ConsolePath(["webhooks", endpoint.identifier] + segments)
    }

    private var failed: HTML {
        details(.class("action")) {
            summary { Phrase("Send all given-up messages again", "포기한 메시지 모두 다시 보내기") }
            context.form(to: path("failed", "resending")) {
                p(.class("note")) {
                    Phrase(
                        "The oldest \(Shown.digits(Int64(WebhookService.changedAtOnce))) at once.",
                        "오래된 순으로 한 번에 \(Shown.digits(Int64(WebhookService.changedAtOnce)))개씩 보냅니다.")
                }
                button(.class("primary")) { Phrase("Send again", "다시 보내기") }
            }
        }
    }

    private var period: HTML {
        details(.class("action"), continuation == nil ? nil : .open) {
            summary { Phrase("Send the messages of a period again", "기간의 메시지 다시 보내기") }
            context.form(to: path("period", "resending")) {
                Field.moment("from", Phrase("From (UTC)", "시작 (UTC)"), value: continuation ?? now.adding(days: -1))
                Field.moment("until", Phrase("Until (UTC)", "끝 (UTC)"), value: now)
                p(.class("note")) {
                    Phrase(
                        "Delivered messages too, oldest first, at most 10,000 at once. Receivers recognize a repetition by "
                            + "webhook-id. Delivered messages are kept for 30 days.",
                        "전달된 메시지도 포함하며, 오래된 순으로 한 번에 최대 10,000개입니다. 수신자는 webhook-id로 중복을 알아봅니다. "
                            + "전달된 메시지는 30일 동안 보관합니다.")
                }
                button(.class("primary")) { Phrase("Send again", "다시 보내기") }
            }
        }
    }

    private var rotation: HTML {
        details(.class("action")) {
            summary { Phrase("Replace the secret", "비밀 값 교체") }
            context.form(to: path("secret")) {
                Field.choice(
                    "overlap", Phrase("The old secret still signs for", "이전 비밀 값도 서명하는 기간"),
                    WebhooksRoutes.overlaps.map { (String($0), WebhookWords.period($0)) },
                    chosen: String(WebhookService.standardOverlap))
                button(.class("primary")) { Phrase("Replace", "교체") }
            }
        }
    }

    private var address: HTML {
        details(.class("action")) {
            summary { Phrase("Change the address", "주소 변경") }
            context.form(to: path("address")) {
                Field.text(
                    "url", Phrase("Address", "주소"), value: endpoint.url, inputMode: "url",
                    maximumLength: WebhookURL.maximumLength, isRequired: true,
                    note: Phrase("Waiting messages go there, too.", "대기 중인 메시지도 새 주소로 보냅니다."))
                button(.class("primary")) { Phrase("Save", "저장") }
            }
        }
    }

    private var authorization: HTML {
        details(.class("action")) {
            summary { Phrase("Change the authorization", "인증 값 변경") }
            context.form(to: path("authorization")) {
                Self.authorizationField
                button(.class("primary")) { Phrase("Save", "저장") }
            }
        }
    }

    /// The field for the header `Authorization` of an endpoint's messages. It never shows the present value, a secret.
    static var authorizationField: HTML {
        Field.text(
            "authorization", Phrase("Authorization header", "Authorization 헤더"),
            maximumLength: WebhookAuthorization.maximumLength,
            note: Phrase(
                "Each message has this value, which your back end can compare. Leave it empty for none.",
                "모든 메시지에 이 값이 들어가며, 백엔드가 비교할 수 있습니다. 비워 두면 보내지 않습니다."))
    }

    private var removal: HTML {
        details(.class("action")) {
            summary { Phrase("Remove the endpoint", "엔드포인트 삭제") }
            context.form(to: path("removal")) {
                p {
                    Phrase(
                        "Its waiting messages are not sent, and its messages are deleted.",
                        "대기 중인 메시지를 보내지 않으며, 메시지를 삭제합니다.")
                }
                button(.class("danger")) { Phrase("Remove", "삭제") }
            }
        }
    }
}
