import Features
import Ledger
import Proofs

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
            table
            if actions.isEmpty { Listing.pager(next, Phrase("Search further", "계속 찾기")) }
        }
    }

    private var empty: Phrase {
        next == nil
            ? Phrase("There are none.", "없습니다.")
            : Phrase("There are none among the latest actions.", "최근 작업 중에는 없습니다.")
    }

    private var filter: HTML {
        form(.class("actions"), .method("get"), .action(ConsolePath("health", "team"))) {
            Field.choice(
                "member", Phrase("Person", "사람"), empty: Phrase("everybody", "모두"),
                members.map { ($0, Phrase(same: $0)) }, chosen: member)
            Field.choice(
                "event", Phrase("Action", "작업"), empty: Phrase("everything", "모두"),
                Self.shownEvents.map { ($0.rawValue, Self.title(of: $0)) }, chosen: event?.rawValue)
            button { Phrase("Show", "보기") }
        }
    }

    private var table: HTML {
        Listing.table(Phrase("Actions of the team", "팀의 작업"), of: actions, empty: empty, next: next) {
            column(Phrase("Time", "시각")) { Shown.moment($0.entry.happenedAt) }
            column(Phrase("Person", "사람")) { action in
                if case .member(let name) = action.entry.actor {
                    data(name)
                } else {
                    data(action.entry.actor.description)
                }
            }
            column(Phrase("Action", "작업")) { Self.title(of: $0.entry.event) }
            column(Phrase("Customer", "고객")) { Shown.customer($0.user) }
            column(Phrase("What", "대상")) { action in
                data(action.entry.subject)
                if !action.entry.reference.isEmpty {
                    plain(" ")
                    Shown.identifier(action.entry.reference)
                }
            }
            column(Phrase("Reason", "이유")) { $0.entry.reason.map { data($0) } ?? Shown.nothing }
        }
    }

    /// The events that a member can cause.
    private static let shownEvents: [AuditEntry.Event] = [
        .itemGiven, .itemTakenBack, .granted, .revoked, .assigned, .credited, .spent, .erased,
    ]

    private static func title(of event: AuditEntry.Event) -> Phrase {
        // The team also grants by reinstating.
        event == .granted ? Phrase("Purchase reinstated or redeemed", "구매 회수 취소 또는 등록") : event.title
    }
}
