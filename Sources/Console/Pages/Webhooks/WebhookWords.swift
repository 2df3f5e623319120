import Features
import Ledger
import Proofs

/// The states and outcomes of deliveries in plain words.
enum WebhookWords {
    static func title(of state: WebhookDelivery.State) -> Phrase {
        switch state {
        case .pending: Phrase("Waiting", "대기")
        case .delivered: Phrase("Delivered", "전달됨")
        case .failed: Phrase("Given up", "포기함")
        }
    }

    static func badge(_ state: WebhookDelivery.State) -> HTML {
        let mood: Shown.Mood =
            switch state {
            case .pending: .warning
            case .delivered: .good
            case .failed: .bad
            }
        return Shown.badge(title(of: state), mood)
    }

    /// The outcome of an attempt.
    static func outcome(of attempt: WebhookDelivery.Attempt) -> HTML {
        switch attempt.outcome {
        case .answered(let status):
            HTML {
                Shown.badge(
                    Phrase("Answered \(status)", "응답 \(status)"), (200...299).contains(status) ? .good : .bad)
            }
        case .unanswered(let code):
            HTML {
                Shown.badge(reason(code), .bad)
                plain(" ")
                Console.code { data(code) }
            }
        case nil:
            Shown.badge(Phrase("Under way, or the service stopped", "진행 중이거나 서비스가 중단됨"))
        }
    }

    /// The reason for a missing answer.
    private static func reason(_ code: String) -> Phrase {
        switch code {
        case "timedOut": Phrase("No answer in time", "시간 안에 응답 없음")
        case "unreachable": Phrase("Not reachable", "연결할 수 없음")
        case "tlsFailed": Phrase("TLS failed", "TLS 실패")
        case "connectionEnded": Phrase("The connection ended", "연결이 끊김")
        case "hostUnknown": Phrase("The name is unknown", "이름을 찾을 수 없음")
        case "addressPrivate": Phrase("The address is not public", "공개 주소가 아님")
        default: Phrase("No answer", "응답 없음")
        }
    }

    static func change(_ event: WebhookChange.Event) -> Phrase {
        switch event {
        case .added: Phrase("Added", "추가")
        case .urlChanged: Phrase("Another address", "주소 변경")
        case .secretReplaced: Phrase("Secret replaced", "비밀 값 교체")
        case .authorizationChanged: Phrase("Another authorization", "인증 값 변경")
        case .removed: Phrase("Removed", "삭제")
        case .messageReplayed: Phrase("Message sent again", "메시지 재전송")
        case .messagesReplayed: Phrase("Messages sent again", "메시지 여러 개 재전송")
        }
    }

    static func title(of format: WebhookFormat) -> Phrase {
        switch format {
        case .till: Phrase(same: "Till")
        case .revenueCat: Phrase(same: "RevenueCat")
        }
    }

    /// A period in seconds.
    static func period(_ seconds: Int64) -> Phrase {
        switch seconds {
        case 0: Phrase("Not at all: the old secret ends now", "없음: 이전 비밀 값을 바로 폐기")
        case 3600: Phrase("One hour", "1시간")
        case 86_400: Phrase("One day", "1일")
        default: Phrase("\(seconds / 86_400) days", "\(seconds / 86_400)일")
        }
    }
}

extension WebhookEndpoint {
    /// The address as the member may see it. Its path may contain a token, so only administrators see all of it.
    func shownURL(to context: ConsoleContext) -> String {
        guard !context.may(.administer) else { return url }
        return origin + "/…"
    }

    /// The scheme, the host and the port of the address.
    var origin: String {
        let end = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return String(url[..<(url[end...].firstIndex { "/?".contains($0) } ?? url.endIndex)])
    }
}
