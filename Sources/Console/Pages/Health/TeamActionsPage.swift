import Commerce
import Ledger
import Team

/// The page of what the team's members did to customers, newest first.
struct TeamActionsPage {
    /// The names of the members, removed ones included.
    let members: [String]
    /// The chosen member; nil for all.
    let member: String?
    /// The chosen event; nil for all.
    let event: AuditEntry.Event?
    let actions: [TeamAction]
    /// The address of the next page.
    let next: ConsolePath?

    var page: Page {
        Page(Phrase("Actions of the team", "팀의 작업"), section: .health) {
            HealthTabs.team.html
            p(.class("note")) {
                Phrase(
                    "The changes that people made to customers at the console. The timeline of a customer also shows those of API "
                        + "keys.",
                    "사람들이 콘솔에서 고객에게 한 변경입니다. API 키의 변경은 고객의 타임라인에 있습니다.")
            }
            filter
            Listing.table(
                Phrase("Actions of the team", "팀의 작업"),
                columns: [
                    Phrase("Time", "시각"), Phrase("Person", "사람"), Phrase("Action", "작업"), Phrase("Customer", "고객"),
                    Phrase("What", "대상"), Phrase("Reason", "이유"),
                ],
                rows: actions.map(row), empty: empty, next: next)
            if actions.isEmpty, let next {
                p(.class("pager")) { a(.class("button"), .href(next)) { Phrase("Search further", "계속 찾기") } }
            }
        }
    }

    private var empty: Phrase {
        next == nil
            ? Phrase("There are none.", "없습니다.")
            : Phrase("There are none among the latest actions.", "최근 작업 중에는 없습니다.")
    }

    private var filter: HTML {
        form(.class("actions"), .method("get"), .action(ConsolePath("health", "team"))) {
            div(.class("field")) {
                label(.for("member")) { Phrase("Person", "사람") }
                select(.id("member"), .name("member")) {
                    option(.value("")) { Phrase("everybody", "모두") }
                    for name in members {
                        option(.value(name), member.map(name.hasSameBytes) ?? false ? .selected : nil) { plain(name) }
                    }
                }
            }
            div(.class("field")) {
                label(.for("event")) { Phrase("Action", "작업") }
                select(.id("event"), .name("event")) {
                    option(.value("")) { Phrase("everything", "모두") }
                    for each in Self.shownEvents {
                        option(.value(each.rawValue), each == event ? .selected : nil) { Self.title(of: each) }
                    }
                }
            }
            button { Phrase("Show", "보기") }
        }
    }

    private func row(_ action: TeamAction) -> [HTML] {
        let entry = action.entry
        let actor = if case .member(let name) = entry.actor { name } else { entry.actor.description }
        let customer = action.user.map { user in
            a(.href(ConsolePath("customers", query: ["search": user.name]))) { data(user.name) }
        }
        return [
            Shown.moment(entry.happenedAt), data(actor), HTML { Self.title(of: entry.event) },
            customer ?? HTML { Phrase("erased", "삭제됨") },
            HTML {
                data(entry.subject)
                if !entry.reference.isEmpty {
                    plain(" ")
                    Shown.identifier(entry.reference)
                }
            },
            entry.reason.map { data($0) } ?? Shown.nothing,
        ]
    }

    /// The events that a member can cause.
    private static let shownEvents: [AuditEntry.Event] = [
        .itemGiven, .itemTakenBack, .granted, .revoked, .assigned, .credited, .spent, .erased,
    ]

    private static func title(of event: AuditEntry.Event) -> Phrase {
        switch event {
        case .itemGiven: Phrase("Item given", "아이템 지급")
        case .itemTakenBack: Phrase("Item taken back", "아이템 회수")
        case .granted: Phrase("Purchase reinstated or redeemed", "구매 되살림 또는 등록")
        case .revoked: Phrase("Purchase revoked", "구매 취소")
        case .assigned: Phrase("Purchase assigned", "구매 배정")
        case .credited: Phrase("Balance increased", "잔액 추가")
        case .spent: Phrase("Balance spent", "잔액 사용")
        case .erased: Phrase("Customer erased", "고객 삭제")
        case .refused: Phrase("Purchase refused", "구매 거절")
        case .transferredIn: Phrase("Purchase transferred in", "구매 넘겨받음")
        case .transferredOut: Phrase("Purchase transferred out", "구매 넘겨줌")
        case .expired: Phrase("Expired", "만료")
        case .renewalFailed: Phrase("Renewal failed", "갱신 실패")
        case .gracePeriodBegan: Phrase("Grace period began", "유예 기간 시작")
        case .autoRenewDisabled: Phrase("Renewal turned off", "자동 갱신 꺼짐")
        case .autoRenewEnabled: Phrase("Renewal turned on", "자동 갱신 켜짐")
        case .aliased: Phrase("Anonymous customer logged in", "익명 고객 로그인")
        }
    }
}
