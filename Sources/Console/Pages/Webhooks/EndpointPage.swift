import Features
import Proofs

/// The page of an endpoint with its deliveries.
struct EndpointPage {
    let context: ConsoleContext
    let endpoint: WebhookEndpoint
    /// The names of API keys by their identifiers.
    let keys: [String: String]
    /// The state of the shown deliveries; nil for all.
    let state: WebhookDelivery.State?
    let deliveries: [(delivery: WebhookDelivery, type: String?)]
    let nextCursor: String?
    let changes: [WebhookChange]
    let now: Timestamp
    /// The number of messages that the member has sent again; nil if the page does not follow such a form.
    let resent: Int?
    /// The moment of the last message that was sent again, if there may be more.
    let continuation: Timestamp?

    var page: Page {
        Page(Phrase("Webhook", "웹훅"), section: .webhooks) {
            if let resent { confirmation(resent) }
            section(.class("card")) {
                h2 { data(endpoint.shownURL(to: context)) }
                Facts.list(facts)
            }
            EndpointActions(context: context, endpoint: endpoint, continuation: continuation, now: now).html
            section {
                h2 { Phrase("Messages", "메시지") }
                tabs
                messages
            }
            section {
                h2 { Phrase("Changes by the team", "팀의 변경 내역") }
                Listing.table(
                    Phrase("The last changes, newest first", "최근 변경, 최신순"), of: changes,
                    empty: Phrase("None was recorded.", "기록된 변경이 없습니다.")
                ) {
                    column(Phrase("Time", "시각")) { Shown.moment($0.happenedAt) }
                    column(Phrase("Change", "변경")) { WebhookWords.change($0.event) }
                    column(Phrase("By", "변경한 사람")) { ActorWords.html(caller: $0.changedBy, keys) }
                    column(Phrase("Detail", "상세")) { detail(of: $0) }
                }
            }
        }
    }

    private func confirmation(_ count: Int) -> HTML {
        p(.class("notice"), .role("status")) {
            Phrase(
                "\(Shown.digits(Int64(count))) messages will be sent again.",
                "메시지 \(Shown.digits(Int64(count)))개를 다시 보냅니다.")
            if continuation != nil {
                plain(" ")
                Phrase(
                    "There may be more: the form now begins where this one ended.",
                    "더 있을 수 있습니다. 아래 양식은 여기서 끝난 지점부터 시작합니다.")
            } else if count == WebhookService.changedAtOnce {
                plain(" ")
                Phrase("There may be more. Repeat it.", "더 있을 수 있습니다. 다시 실행하세요.")
            }
        }
    }

    private var facts: [(name: Phrase, value: HTML)] {
        let hasPrevious = endpoint.secrets(at: now).count > 1
        return [
            (Phrase("Identifier", "식별자"), Shown.identifier(endpoint.identifier)),
            (Phrase("Format", "형식"), HTML { WebhookWords.title(of: endpoint.format) }),
            (
                Phrase("Authorization header", "Authorization 헤더"),
                HTML { endpoint.authorization == nil ? Phrase("None", "없음") : Phrase("Set", "설정됨") }
            ),
            (Phrase("Added", "추가"), Shown.moment(endpoint.createdAt)),
            (Phrase("By", "추가한 사람"), ActorWords.html(caller: endpoint.createdBy, keys)),
            (
                Phrase("Previous secret valid until", "이전 비밀 값의 유효 기한"),
                hasPrevious ? Shown.moment(endpoint.previousSecret?.endsAt) : Shown.nothing
            ),
        ]
    }

    private var tabs: HTML {
        Tabs.list(Phrase("States of messages", "메시지 상태")) {
            Tabs.link(Phrase("All", "전체"), to: path(nil), isPresent: state == nil)
            for each in WebhookDelivery.State.allCases {
                Tabs.link(WebhookWords.title(of: each), to: path(each), isPresent: each == state)
            }
        }
    }

    private func path(_ state: WebhookDelivery.State?, cursor: String? = nil) -> ConsolePath {
        ConsolePath("webhooks", endpoint.identifier, query: ["state": state?.rawValue, "cursor": cursor])
    }

    private var messages: HTML {
        Listing.table(
            Phrase("Messages, newest first", "메시지, 최신순"), of: deliveries,
            empty: Phrase("No message.", "메시지가 없습니다."), next: nextCursor.map { path(state, cursor: $0) }
        ) {
            column(Phrase("Event", "사건 시각")) { Shown.moment($0.delivery.entry.happenedAt) }
            column(Phrase("Message", "메시지")) { shown in
                let message = shown.delivery.messageIdentifier
                a(.href(ConsolePath("webhooks", endpoint.identifier, "deliveries", message))) {
                    data(shown.type ?? message)
                }
            }
            column(Phrase("Customer", "고객")) { DeliveryPage.customer(of: $0.delivery) }
            column(Phrase("State", "상태")) { WebhookWords.badge($0.delivery.state) }
            column(Phrase("Attempts", "시도")) { Shown.number(Int64($0.delivery.attempts)) }
            column(Phrase("Last attempt", "마지막 시도")) {
                $0.delivery.lastAttempt.map { WebhookWords.outcome(of: $0) } ?? Shown.nothing
            }
            column(Phrase("Next attempt", "다음 시도")) { DeliveryPage.nextAttempt(of: $0.delivery) }
        }
    }

    private func detail(of change: WebhookChange) -> HTML {
        guard let detail = change.detail else { return Shown.nothing }
        switch change.event {
        // An address may contain a token.
        case .urlChanged where !context.may(.administer): return Shown.nothing
        case .secretReplaced: return HTML { WebhookWords.period(Int64(detail) ?? 0) }
        case .authorizationChanged:
            return HTML { detail == "set" ? Phrase("Set", "설정됨") : Phrase("Removed", "삭제") }
        default: return data(detail)
        }
    }
}

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
