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
