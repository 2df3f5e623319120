import Commerce
import Entitlements

/// The transactions of a customer, newest first.
struct TransactionTable {
    let user: User
    let transactions: [RedeemedTransaction]
    let names: CatalogNames
    let next: ConsolePath?

    var html: HTML {
        Listing.table(
            Phrase("Transactions", "거래"),
            columns: [
                Phrase("Product", "상품"), Phrase("Bought", "구매"), Phrase("Until", "종료"), Phrase("Price", "가격"),
                Phrase("State", "상태"),
            ],
            rows: transactions.map { transaction in
                [
                    a(.href(transaction.path(of: user))) { names.product(transaction.productIdentifier) },
                    Shown.day(transaction.purchaseDate), Shown.day(transaction.expiresAt),
                    Shown.money(Self.price(of: transaction)), state(of: transaction),
                ]
            },
            empty: Phrase("The customer has redeemed nothing.", "등록한 거래가 없습니다."), next: next)
    }

    private static func price(of transaction: RedeemedTransaction) -> Price? {
        guard let milliunits = transaction.facts.integer(.price), let currency = transaction.facts.text(.currency)
        else { return nil }
        return Price(milliunits: milliunits, currency: currency)
    }

    private func state(of transaction: RedeemedTransaction) -> HTML {
        HTML {
            if transaction.revocation != nil {
                Shown.badge(Phrase("revoked by the team", "팀이 회수"), .bad)
            } else if transaction.revocationDate != nil {
                Shown.badge(Phrase("refunded or revoked", "환불 또는 회수"), .bad)
            } else {
                Shown.badge(Phrase("valid", "유효"), .good)
            }
            plain(" ")
            CustomerWords.mark(transaction.origin)
        }
    }
}

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
        let actions = context.may(.support) ? [Phrase("Action", "작업")] : []
        return Listing.table(
            Phrase("Items given by the team", "팀이 지급한 아이템"),
            columns: [
                Phrase("Item", "아이템"), Phrase("Given", "지급"), Phrase("By", "누가"), Phrase("Reason", "이유"),
                Phrase("Until", "종료"), Phrase("State", "상태"),
            ] + actions,
            rows: grants.map { grant in
                [
                    HTML { names.item(grant.item) }, Shown.day(grant.grantedAt),
                    CustomerWords.caller(grant.grantedBy, keys), data(grant.reason), Shown.day(grant.endsAt),
                    state(of: grant),
                ] + (actions.isEmpty ? [] : [revocation(of: grant)])
            },
            empty: Phrase("The team has given nothing.", "지급한 아이템이 없습니다."), next: next)
    }

    private func isOver(_ grant: Grant) -> Bool { grant.endsAt.map { $0 <= now } ?? false }

    private func state(of grant: Grant) -> HTML {
        HTML {
            if let revocation = grant.revocation {
                Shown.badge(Phrase("revoked", "회수됨"), .bad)
                div(.class("note")) {
                    Shown.day(revocation.revokedAt)
                    plain(" · ")
                    CustomerWords.caller(revocation.revokedBy, keys)
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
                GivenReason.field("reason-" + grant.identifier)
                button(.class("danger")) { Phrase("Revoke", "회수") }
            }
        }
    }
}
