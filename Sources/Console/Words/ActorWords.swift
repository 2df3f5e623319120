import Features
import Ledger
import Proofs

/// The person, the program or the API key that has changed something.
enum ActorWords {
    /// - Parameters:
    ///   - caller: The identifier of an API key, or `member NAME` for a person.
    ///   - keys: The names of API keys by their identifiers.
    static func html(caller: String, _ keys: [String: String]) -> HTML { html(AuditActor(caller: caller), keys) }

    static func html(_ actor: AuditActor, _ keys: [String: String]) -> HTML {
        switch actor {
        case .user: HTML { Phrase("the app", "앱") }
        case .appStore: HTML { Phrase("the App Store", "App Store") }
        case .till: HTML { Phrase("Till", "Till") }
        case .member(let name): data(name)
        case .apiKey(let identifier):
            HTML {
                Phrase("API key", "API 키"); plain(" ")
                data(keys[identifier] ?? identifier)
            }
        }
    }
}

extension AuditEntry.Event {
    /// The event, without its subject.
    var title: Phrase {
        switch self {
        case .granted: Phrase("Redeemed", "구매 반영")
        case .revoked: Phrase("Revoked", "회수")
        case .productChanged: Phrase("Product changed", "상품 변경")
        case .refused: Phrase("Refused", "거절")
        case .transferredIn: Phrase("Came from another customer", "다른 고객에게서 이전")
        case .transferredOut: Phrase("Went to another customer", "다른 고객에게 이전")
        case .itemGiven: Phrase("Item given", "아이템 지급")
        case .itemTakenBack: Phrase("Item taken back", "지급 아이템 회수")
        case .assigned: Phrase("Purchase assigned", "구매 배정")
        case .credited: Phrase("Balance increased", "잔액 추가")
        case .spent: Phrase("Balance spent", "잔액 사용")
        case .expired: Phrase("Expired", "만료")
        case .renewalFailed: Phrase("Renewal failed", "갱신 실패")
        case .gracePeriodBegan: Phrase("Grace period began", "유예 기간 시작")
        case .autoRenewDisabled: Phrase("Renewal turned off", "자동 갱신 꺼짐")
        case .autoRenewEnabled: Phrase("Renewal turned on", "자동 갱신 켜짐")
        case .aliased: Phrase("Anonymous customer logged in", "익명 고객 로그인")
        case .erased: Phrase("Customer erased", "고객 삭제")
        }
    }

    /// The effect for the customer.
    var mood: Shown.Mood {
        switch self {
        case .granted, .transferredIn, .itemGiven, .assigned, .credited, .autoRenewEnabled: .good
        case .refused, .revoked, .itemTakenBack: .bad
        case .renewalFailed, .gracePeriodBegan, .autoRenewDisabled, .transferredOut: .warning
        case .productChanged, .expired, .spent, .aliased, .erased: .neutral
        }
    }
}

extension NotificationOutcome {
    /// The effect of a notification.
    var title: Phrase {
        switch self {
        case .granted: Phrase("Given to the customer", "고객에게 지급")
        case .revoked: Phrase("Taken from the customer", "고객에게서 회수")
        case .recorded: Phrase("Recorded, nothing changed", "기록만 함, 변경 없음")
        case .parked: Phrase("Waits for a customer", "고객을 기다림")
        case .duplicate: Phrase("Received before", "이미 받음")
        }
    }

    /// The title with the outcome's code.
    var html: HTML {
        HTML {
            Shown.badge(title, mood)
            plain(" ")
            code { plain(rawValue) }
        }
    }

    private var mood: Shown.Mood {
        switch self {
        case .granted: .good
        case .revoked: .bad
        case .parked: .warning
        case .recorded, .duplicate: .neutral
        }
    }
}

/// An origin with its mark.
enum OriginWords {
    static func html(_ origin: Origin) -> HTML {
        HTML {
            Shown.identifier(origin.rawValue)
            plain(" ")
            mark(origin)
        }
    }

    /// A badge for an origin whose purchases cost nothing; nil for real purchases.
    static func mark(_ origin: Origin?) -> HTML? {
        switch origin {
        case .appleProduction, nil: nil
        case .appleSandbox: Shown.badge(Phrase("Sandbox", "샌드박스"), .warning)
        case .xcode: Shown.badge(Phrase("Xcode", "Xcode"), .warning)
        case .localProduction: Shown.badge(Phrase("Local store", "로컬 스토어"), .warning)
        case .localSandbox: Shown.badge(Phrase("Local sandbox", "로컬 샌드박스"), .warning)
        }
    }
}
