import Features
import Proofs

/// The page of the team: its members, the form for another one, and the changes.
struct TeamPage {
    let context: ConsoleContext
    /// The members, removed ones included.
    let members: [TeamMember]
    /// The changes, newest first.
    let changes: [TeamChange]
    /// The address of the earlier changes.
    let next: ConsolePath?

    var page: Page {
        Page(Phrase("Team", "팀"), section: .team) {
            h2 { Phrase("Members", "구성원") }
            current
            addition
            removed
            h2 { Phrase("Changes", "변경 내역") }
            Listing.table(
                Phrase("Changes", "변경 내역"), of: changes,
                empty: Phrase("Nothing was changed yet.", "아직 변경한 것이 없습니다."), next: next
            ) {
                column(Phrase("Time", "시각")) { Shown.moment($0.happenedAt) }
                column(Phrase("Change", "변경")) { sentence($0) }
                column(Phrase("By", "변경한 사람")) { actor($0.actor) }
            }
        }
    }

    private var current: HTML {
        Listing.table(
            Phrase("Members", "구성원"), of: Array(members.filter { $0.removedAt == nil }.enumerated()),
            empty: Phrase("The team has no members.", "팀에 구성원이 없습니다.")
        ) {
            column(Phrase("Name", "이름")) { data($0.element.name) }
            column(Phrase("Role", "역할")) { $0.element.role.title }
            column(Phrase("Password", "비밀번호")) {
                $0.element.passwordHash == nil
                    ? Shown.badge(Phrase("invited", "초대됨"), .warning) : Shown.badge(Phrase("set", "설정됨"), .good)
            }
            column(Phrase("Codes", "코드")) {
                $0.element.codeSecret == nil
                    ? Shown.badge(Phrase("off", "사용 안 함")) : Shown.badge(Phrase("on", "사용"), .good)
            }
            column(Phrase("Added", "추가")) { Shown.moment($0.element.createdAt) }
            column(Phrase("Actions", "작업")) { actions($0.element, $0.offset) }
        }
    }

    private func actions(_ member: TeamMember, _ index: Int) -> HTML {
        HTML {
            details(.class("action")) {
                summary { Phrase("Role", "역할") }
                context.form(to: path(member, "role")) {
                    div(.class("field")) {
                        label(.for("role-\(index)")) { Phrase("Role", "역할") }
                        roles(identifier: "role-\(index)", chosen: member.role)
                    }
                    button { Phrase("Change the role", "역할 변경") }
                }
            }
            details(.class("action")) {
                summary { Phrase("Invite again", "다시 초대") }
                context.form(to: path(member, "invitation"), HTMLAttribute("data-stay")) {
                    p {
                        Phrase(
                            "A new link sets another password and turns off codes. Until it is used, the password is valid.",
                            "새 링크로 비밀번호를 다시 정하고 코드를 끕니다. 링크를 쓰기 전까지는 지금 비밀번호가 유효합니다.")
                    }
                    button { Phrase("Make a link", "링크 만들기") }
                }
            }
            if context.member.map({ !$0.name.hasSameBytes(as: member.name) }) ?? true {
                details(.class("action")) {
                    summary { Phrase("Remove", "삭제") }
                    context.form(to: path(member, "removal")) {
                        p {
                            Phrase(
                                "The sessions end at once. The name is never used again.",
                                "세션이 바로 끝납니다. 이 이름은 다시 쓸 수 없습니다.")
                        }
                        button(.class("danger")) { Phrase("Remove the member", "구성원 삭제") }
                    }
                }
            }
        }
    }

    private func path(_ member: TeamMember, _ action: String) -> ConsolePath {
        ConsolePath("team", "members", member.name, action)
    }

    private func roles(identifier: String, chosen: TeamRole) -> HTML {
        select(.id(identifier), .name("role")) {
            for role in TeamRole.allCases {
                option(.value(role.rawValue), role == chosen ? .selected : nil) { role.title }
            }
        }
    }

    private var addition: HTML {
        section(.class("card narrow")) {
            h2 { Phrase("Add a member", "구성원 추가") }
            context.form(to: ConsolePath("team", "members"), HTMLAttribute("data-stay")) {
                Field.text(
                    "name", Phrase("Name", "이름"), maximumLength: TeamMember.maximumNameLength, isRequired: true,
                    note: Phrase("The audit log shows it.", "감사 기록에 표시됩니다."))
                div(.class("field")) {
                    label(.for("role")) { Phrase("Role", "역할") }
                    roles(identifier: "role", chosen: .viewer)
                }
                ul(.class("note")) { for role in TeamRole.allCases { li { role.explanation } } }
                button(.class("primary")) { Phrase("Add, and make a link", "추가하고 링크 만들기") }
            }
        }
    }

    private var removed: HTML? {
        let members = members.filter { $0.removedAt != nil }
        guard !members.isEmpty else { return nil }
        return details(.class("action")) {
            summary { Phrase("Removed members", "삭제된 구성원") }
            Listing.table(
                Phrase("Removed members", "삭제된 구성원"), of: members, empty: Phrase("None.", "없습니다.")
            ) {
                column(Phrase("Name", "이름")) { data($0.name) }
                column(Phrase("Role", "역할")) { $0.role.title }
                column(Phrase("Added", "추가")) { Shown.moment($0.createdAt) }
                column(Phrase("Removed", "삭제")) { Shown.moment($0.removedAt) }
            }
        }
    }

    private func sentence(_ change: TeamChange) -> HTML {
        HTML {
            data(change.member)
            plain(": ")
            change.event.title
            if let role = change.role {
                plain(" (")
                role.title
                plain(")")
            }
        }
    }

    private func actor(_ actor: TeamActor) -> HTML {
        switch actor {
        case .member(let name): data(name)
        case .commandLine: HTML { Phrase("command line", "명령줄") }
        }
    }
}

extension TeamRole {
    /// The role's permissions in a sentence.
    var explanation: Phrase {
        switch self {
        case .viewer:
            Phrase("Viewer: sees everything, changes nothing.", "조회: 모든 것을 보고 아무것도 바꾸지 않습니다.")
        case .support:
            Phrase(
                "Support: gives, revokes and assigns purchases, and controls the local App Store.",
                "고객 지원: 아이템을 지급하고 회수하고 구매를 배정하며, 로컬 App Store를 조작합니다.")
        case .catalog:
            Phrase(
                "Catalog: changes products, and controls the local App Store.",
                "상품 관리: 상품을 바꾸고, 로컬 App Store를 조작합니다.")
        case .admin: Phrase("Administrator: may do everything.", "관리자: 모든 것을 할 수 있습니다.")
        }
    }
}

extension TeamChange.Event {
    /// The change for people.
    var title: Phrase {
        switch self {
        case .added: Phrase("added", "추가됨")
        case .invited: Phrase("invited again", "다시 초대됨")
        case .roleChanged: Phrase("role changed", "역할 변경됨")
        case .removed: Phrase("removed", "삭제됨")
        case .passwordSet: Phrase("password set", "비밀번호 설정됨")
        case .codesTurnedOn: Phrase("codes turned on", "코드 사용 시작")
        case .codesTurnedOff: Phrase("codes turned off", "코드 사용 중지")
        }
    }
}
