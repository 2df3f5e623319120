import Features
import Proofs

/// The transactions of a customer, newest first.
struct TransactionTable {
    let user: User
    let transactions: [RedeemedTransaction]
    let names: CatalogNames
    let now: Timestamp
    let next: ConsolePath?

    var html: HTML {
        Listing.table(
            Phrase("Transactions", "거래"), of: transactions,
            empty: Phrase("The customer has redeemed nothing.", "등록한 거래가 없습니다."), next: next
        ) {
            column(Phrase("Product", "상품")) { transaction in
                a(.href(transaction.path(of: user))) { names.product(transaction.productIdentifier) }
            }
            column(Phrase("Bought", "구매")) { Shown.day($0.purchaseDate) }
            column(Phrase("Until", "종료")) { Shown.day($0.accessEnd(among: transactions)) }
            column(Phrase("Price", "가격")) { Shown.money($0.paidPrice) }
            column(Phrase("State", "상태")) { state(of: $0) }
        }
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
