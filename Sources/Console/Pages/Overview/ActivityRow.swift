import Commerce
import Entitlements
import Ledger

/// An entry of the live activity.
struct ActivityRow {
    let activity: ActivityEntry
    /// The names of the API keys by their identifiers.
    let keyNames: [String: String]

    private var entry: AuditEntry { activity.entry }

    var html: HTML {
        li(.class(mood == .neutral ? "" : mood.rawValue)) {
            Shown.badge(title, mood)
            if !entry.subject.isEmpty, entry.event != .erased {
                plain(" ")
                Shown.identifier(entry.subject)
            }
            plain(" ")
            customer
            div(.class("note")) {
                Shown.moment(entry.happenedAt)
                plain(" · ")
                actor
                if let origin = entry.origin {
                    plain(" · ")
                    plain(origin.rawValue)
                }
                if let reason = entry.reason {
                    plain(" · ")
                    data(reason)
                }
            }
        }
    }

    private var customer: HTML {
        guard let user = activity.user else { return HTML { Phrase("(erased customer)", "(삭제된 고객)") } }
        // A segment must not be empty.
        return a(.href(.customer(user))) { data(user.name) }
    }

    private var actor: HTML {
        HTML {
            switch entry.actor {
            case .user: Phrase("by the customer", "고객")
            case .appStore: Phrase("by the App Store", "App Store")
            case .till: Phrase("by Till", "Till")
            case .member(let name): byline(name)
            case .apiKey(let identifier): byline(keyNames[identifier] ?? identifier)
            }
        }
    }

    private func byline(_ name: String) -> HTML {
        HTML {
            Phrase("by ", "담당: ")
            data(name)
        }
    }

    private var title: Phrase {
        switch entry.event {
        case .granted: Phrase("Redeemed", "구매 반영")
        case .revoked: Phrase("Revoked", "회수")
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

    private var mood: Shown.Mood {
        switch entry.event {
        case .granted, .transferredIn, .itemGiven, .assigned, .credited, .autoRenewEnabled: .good
        case .refused, .revoked, .itemTakenBack: .bad
        case .renewalFailed, .gracePeriodBegan, .autoRenewDisabled, .transferredOut: .warning
        case .expired, .spent, .aliased, .erased: .neutral
        }
    }
}
