import Features
import Proofs

/// The page of a transaction: its facts, its proof, and the revocation by the team.
struct TransactionPage {
    let context: ConsoleContext
    let user: User
    let recorded: RecordedTransaction
    let keys: [String: String]
    let names: CatalogNames

    var page: Page {
        let transaction = recorded.transaction
        let name = names.product(transaction.productIdentifier)
        return Page(
            Phrase(
                "Transaction: \(CustomerWords.isolated(name.english))",
                "거래: \(CustomerWords.isolated(name.korean))"),
            section: .customers
        ) {
            CustomerCrumb(user: user).html
            section(.class("card")) {
                h2 { Phrase("Recorded facts", "기록된 사실") }
                TransactionFactList(user: user, recorded: recorded, keys: keys, names: names).html
            }
            if !transaction.facts.isEmpty {
                section(.class("card")) {
                    h2 { Phrase("What Apple has stated", "Apple이 알린 내용") }
                    Facts.list(stated)
                }
            }
            if context.may(.support) { action }
        }
    }

    /// The facts under Apple's names.
    private var stated: [(name: Phrase, value: HTML)] {
        let facts = recorded.transaction.facts
        return TransactionFact.allCases.compactMap { fact in
            guard let value = facts[fact] else { return nil }
            return (Phrase(same: String(describing: fact)), Self.html(fact, value, facts))
        }
    }

    private static func html(_ fact: TransactionFact, _ value: StatedValue, _ facts: TransactionFacts) -> HTML {
        switch (fact.field.kind, value) {
        case (.date, .integer(let number)): Shown.moment(Timestamp(millisecondsSince1970: number))
        case (.integer, .integer(let number)) where fact == .price:
            Shown.money(Price(milliunits: number, currency: facts.text(.currency) ?? ""))
        case (.object, .text(let text)): ContentTree.html(ofJSON: text) ?? data(text)
        case (_, .integer(let number)): plain(String(number))
        case (_, .text(let text)): data(text)
        }
    }

    private var action: HTML {
        let transaction = recorded.transaction
        return section {
            h2 { Phrase("Actions", "작업") }
            details(.class("action")) {
                if transaction.revocation == nil {
                    summary { Phrase("Revoke the purchase", "구매 회수") }
                    context.form(to: transaction.path(of: user, "revocation")) {
                        Field.reason()
                        button(.class("danger")) { Phrase("Revoke", "회수") }
                    }
                } else {
                    summary { Phrase("Reinstate the purchase", "구매 회수 취소") }
                    context.form(to: transaction.path(of: user, "reinstatement")) {
                        Field.reason()
                        button(.class("primary")) { Phrase("Reinstate", "회수 취소") }
                    }
                }
            }
        }
    }
}

/// The purchases that imports expect for a customer.
struct ExpectedPurchaseTable {
    static let title = Phrase("Expected purchases", "증명을 기다리는 구매")

    let purchases: [ImportedCustomer.ExpectedPurchase]
    let names: CatalogNames

    var html: HTML {
        HTML {
            h2 { Self.title }
            p(.class("note")) {
                Phrase(
                    "Recorded by the former server. Each grants nothing before its proof arrives: by a restore in the app, a "
                        + "notification or the reconciliation.",
                    "이전 서버가 기록한 구매입니다. 앱의 복원, App Store 알림, 대조로 증명이 도착하기 전에는 아무것도 주지 않습니다.")
            }
            Listing.table(
                Self.title, of: Array(purchases.prefix(CustomerFacts.listed)),
                empty: Phrase("No expected purchases.", "증명을 기다리는 구매가 없습니다.")
            ) {
                column(Phrase("Product", "상품")) { names.product($0.productIdentifier) }
                column(Phrase("Original transaction", "원래 거래")) { Shown.identifier($0.originalTransactionIdentifier) }
                column(Phrase("Purchased", "구매일")) { Shown.day($0.purchaseDate) }
                column(Phrase("Until", "종료")) { Shown.day($0.expiresAt) }
                column(Phrase("Origin", "출처")) { OriginWords.html($0.origin) }
            }
            if purchases.count > CustomerFacts.listed {
                p { plain("+ \(purchases.count - CustomerFacts.listed)") }
            }
        }
    }
}

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
