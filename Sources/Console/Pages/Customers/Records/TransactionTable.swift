import Commerce
import Entitlements

/// The transactions of a customer, newest first.
struct TransactionTable {
    let user: User
    let transactions: [RedeemedTransaction]
    let names: CatalogNames
    let now: Timestamp
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
                    Shown.day(transaction.purchaseDate), Shown.day(transaction.accessEnd(among: transactions)),
                    Shown.money(transaction.paidPrice), state(of: transaction),
                ]
            },
            empty: Phrase("The customer has redeemed nothing.", "등록한 거래가 없습니다."), next: next)
    }

    private func state(of transaction: RedeemedTransaction) -> HTML {
        HTML {
            if transaction.revocation != nil {
                Shown.badge(Phrase("revoked by the team", "팀이 회수"), .bad)
            } else if transaction.revocationDate != nil {
                Shown.badge(Phrase("refunded or revoked", "환불 또는 회수"), .bad)
            } else if let end = transaction.accessEnd(among: transactions), end <= now {
                Shown.badge(Phrase("over", "종료"))
            } else {
                Shown.badge(Phrase("valid", "유효"), .good)
            }
            plain(" ")
            OriginWords.mark(transaction.origin)
        }
    }
}
