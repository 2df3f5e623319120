import Features
import Proofs

/// The page of a delivery, with its message and each attempt.
struct DeliveryPage {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    let delivery: WebhookDelivery
    /// The type of the message; nil for an event without one.
    let type: String?
    /// The attempts, newest first.
    let attempts: [WebhookDelivery.Attempt]
    /// The message as it would be sent now, signed if the member may see a signature.
    let message: SignedWebhook?

    var page: Page {
        let title = type ?? delivery.messageIdentifier
        return Page(Phrase("Message: \(title)", "메시지: \(title)"), section: .webhooks) {
            p {
                a(.href(ConsolePath("webhooks", endpoint.identifier))) { data(endpoint.shownURL(to: context)) }
            }
            section(.class("card")) {
                h2 { Phrase("Delivery", "전달") }
                Facts.list(facts)
                if context.may(.support) {
                    context.form(to: path("resending"), .class("actions")) {
                        button(.class("primary")) { Phrase("Send again", "다시 보내기") }
                    }
                }
            }
            section {
                h2 { Phrase("Attempts", "시도") }
                Listing.table(
                    Phrase("Attempts, newest first", "시도, 최신순"), of: attempts,
                    empty: Phrase("None yet.", "아직 없습니다.")
                ) {
                    column(Phrase("Number", "번호")) { Shown.number($0.number) }
                    column(Phrase("Time", "시각")) { Shown.moment($0.at) }
                    column(Phrase("Result", "결과")) { WebhookWords.outcome(of: $0) }
                    column(Phrase("Duration", "소요 시간")) {
                        $0.milliseconds.map { plain(Shown.digits($0) + " ms") } ?? Shown.nothing
                    }
                    column(Phrase("Response, the first kilobyte", "응답의 첫 1킬로바이트")) {
                        $0.response.map { text in pre { data(text) } } ?? Shown.nothing
                    }
                }
            }
            if let message { request(message) }
        }
    }

    private var facts: [(name: Phrase, value: HTML)] {
        [
            (Phrase("State", "상태"), WebhookWords.badge(delivery.state)),
            (
                Phrase("Attempts since it was created or sent again", "생성 또는 재전송 이후의 시도"),
                Shown.number(Int64(delivery.attempts))
            ),
            (Phrase("Next attempt", "다음 시도"), Self.nextAttempt(of: delivery)),
            (Phrase("Event", "사건 시각"), Shown.moment(delivery.entry.happenedAt)),
            (Phrase("Customer", "고객"), Self.customer(of: delivery)),
            (Phrase("Number in the customer's audit log", "고객 감사 기록의 번호"), Shown.number(delivery.number)),
            (Phrase("Message identifier", "메시지 식별자"), Shown.identifier(delivery.messageIdentifier)),
        ]
    }

    private func path(_ segment: String) -> ConsolePath {
        ConsolePath("webhooks", endpoint.identifier, "deliveries", delivery.messageIdentifier, segment)
    }

    private func request(_ message: SignedWebhook) -> HTML {
        let command = MessageCommand(message: message, url: endpoint.shownURL(to: context), isSigned: isSigned)
        return HTML {
            section {
                h2 { Phrase("Request", "요청") }
                p(.class("note")) {
                    Phrase(
                        "Each attempt sends this body, with its own time and signature.",
                        "모든 시도는 같은 본문을 각자의 시각과 서명으로 보냅니다.")
                    if endpoint.format == .revenueCat {
                        plain(" ")
                        Phrase(
                            "A later attempt states the purchase as it is then.",
                            "이후의 시도는 그 시점의 구매 상태를 보냅니다.")
                    }
                }
                Facts.list(
                    [(Phrase("POST to", "POST 대상"), data(endpoint.origin))]
                        + command.headers.map { (Phrase(same: $0.name), header($0)) })
                h3 { Phrase("Body", "본문") }
                pre { data(String(decoding: message.body, as: UTF8.self)) }
            }
            section {
                h2 { Phrase("As a curl command", "curl 명령") }
                pre(.id("curl")) { plain(command.text) }
                p(.class("actions")) {
                    Shown.copyButton(for: "curl")
                }
                p(.class("note")) {
                    if isSigned {
                        Phrase(
                            "Signed now. Receivers accept a signature for some minutes.",
                            "지금 서명했습니다. 수신자는 몇 분 동안만 서명을 받아들입니다.")
                    } else {
                        Phrase(
                            "Replace the placeholders: only administrators see the whole address and a signature.",
                            "자리 표시자를 바꾸세요. 전체 주소와 서명은 관리자만 볼 수 있습니다.")
                    }
                }
            }
        }
    }

    /// True if the message has a signature, which only administrators get.
    private var isSigned: Bool { context.may(.administer) }

    private func header(_ header: (name: String, value: String)) -> HTML {
        switch header.name {
        case MessageCommand.signatureHeader:
            HTML { Phrase("Made with the endpoint's secret", "엔드포인트의 비밀 값으로 생성") }
        case MessageCommand.authorizationHeader:
            HTML { Phrase("The endpoint's authorization", "엔드포인트의 인증 값") }
        default: data(header.value)
        }
    }

    /// A link to the customer whose change the message reports.
    static func customer(of delivery: WebhookDelivery) -> HTML {
        guard let user = User(issuer: delivery.issuer, name: delivery.name) else { return data(delivery.name) }
        return Shown.link(to: user)
    }

    /// The time of the next attempt. A new or resent message is due at once.
    static func nextAttempt(of delivery: WebhookDelivery) -> HTML {
        guard delivery.state == .pending else { return Shown.nothing }
        return delivery.attempts == 0
            ? HTML { Phrase("At once", "곧바로") } : Shown.moment(delivery.nextAttemptAt)
    }
}

/// A command that sends a message as the service does.
struct MessageCommand {
    static let signatureHeader = "webhook-signature"
    static let authorizationHeader = "authorization"
    /// The values for members who may not see a signature and the endpoint's authorization.
    private static let placeholders = [signatureHeader: "v1,SIGNATURE", authorizationHeader: "AUTHORIZATION"]

    let message: SignedWebhook
    let url: String
    /// True if the command has the signature and the authorization.
    let isSigned: Bool

    /// The header fields of the request.
    var headers: [(name: String, value: String)] {
        [("content-type", "application/json"), ("user-agent", "Till")]
            + message.headers.map { header in
                (header.name, isSigned ? header.value : Self.placeholders[header.name] ?? header.value)
            }
    }

    var text: String {
        let lines =
            ["curl -X POST \(Self.quoted(url))"] + headers.map { "-H \(Self.quoted("\($0.name): \($0.value)"))" }
            + ["--data-raw \(Self.quoted(String(decoding: message.body, as: UTF8.self)))"]
        return lines.joined(separator: " \\\n  ")
    }

    /// A text as one word of a shell (POSIX, "Single-Quotes").
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
