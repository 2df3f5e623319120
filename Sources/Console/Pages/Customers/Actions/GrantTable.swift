import Features
import Proofs

/// The items that the team has given a customer, newest first, with the forms that revoke them.
struct GrantTable {
    let context: ConsoleContext
    let user: User
    let grants: [Grant]
    let keys: [String: String]
    let names: CatalogNames
    let now: Timestamp
    let next: ConsolePath?

    var html: HTML {
        Listing.table(
            Phrase("Items given by the team", "팀이 지급한 아이템"), of: grants,
            empty: Phrase("The team has given nothing.", "지급한 아이템이 없습니다."), next: next
        ) {
            column(Phrase("Item", "아이템")) { names.item($0.item) }
            column(Phrase("Given", "지급")) { Shown.day($0.grantedAt) }
            column(Phrase("By", "누가")) { ActorWords.html(caller: $0.grantedBy, keys) }
            column(Phrase("Reason", "이유")) { data($0.reason) }
            column(Phrase("Until", "종료")) { Shown.day($0.endsAt) }
            column(Phrase("State", "상태")) { state(of: $0) }
            if context.may(.support) { column(Phrase("Action", "작업")) { revocation(of: $0) } }
        }
    }

    private func isOver(_ grant: Grant) -> Bool { grant.endsAt.map { $0 <= now } ?? false }

    private func state(of grant: Grant) -> HTML {
        HTML {
            if let revocation = grant.revocation {
                Shown.badge(Phrase("revoked", "회수됨"), .bad)
                div(.class("note")) {
                    Shown.day(revocation.revokedAt)
                    plain(" · ")
                    ActorWords.html(caller: revocation.revokedBy, keys)
                    plain(" · ")
                    data(revocation.reason)
                }
            } else if isOver(grant) {
                Shown.badge(Phrase("over", "종료"))
            } else {
                Shown.badge(Phrase("valid", "유효"), .good)
            }
        }
    }

    private func revocation(of grant: Grant) -> HTML {
        guard grant.revocation == nil, !isOver(grant) else { return Shown.nothing }
        return details(.class("action")) {
            summary { Phrase("Revoke", "회수") }
            context.form(to: .customer(user, "grants", grant.identifier, "revocation")) {
                Field.reason("reason-" + grant.identifier)
                button(.class("danger")) { Phrase("Revoke", "회수") }
            }
        }
    }
}
