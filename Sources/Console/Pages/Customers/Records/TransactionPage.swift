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
        return Page("Transaction: \(CustomerWords.isolated(name))", section: .customers) {
            Shown.wayBack(to: user)
            card("Recorded facts") {
                TransactionFactList(user: user, recorded: recorded, keys: keys, names: names).html
            }
            if !transaction.facts.isEmpty {
                card("What Apple has stated") { Facts.list(stated) }
            }
            if context.may(.support) { action }
        }
    }

    /// The facts under Apple's names.
    private var stated: [Fact] {
        let facts = recorded.transaction.facts
        return TransactionFact.allCases.compactMap { fact in
            guard let value = facts[fact] else { return nil }
            return Fact(name: Phrase(same: String(describing: fact)), value: Self.html(fact, value, facts))
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
        return part("Actions") {
            details(.class("action")) {
                if transaction.revocation == nil {
                    summary { "Revoke the purchase" }
                    context.form(to: transaction.path(of: user, "revocation")) {
                        Field.reason()
                        button(.class("danger")) { "Revoke" }
                    }
                } else {
                    summary { "Reinstate the purchase" }
                    context.form(to: transaction.path(of: user, "reinstatement")) {
                        Field.reason()
                        button(.class("primary")) { "Reinstate" }
                    }
                }
            }
        }
    }
}

/// The purchases that imports expect for a customer.
struct ExpectedPurchaseTable {
    static let title = Phrase("Expected purchases")

    let purchases: [ImportedCustomer.ExpectedPurchase]
    let names: CatalogNames

    @HTMLBuilder var html: HTML {
        h2 { Self.title }
        note(
            "Recorded by the former server. Each grants nothing before its proof arrives: by a restore in the app, a notification or the reconciliation."
        )
        Listing.table(Self.title, of: Array(purchases.prefix(CustomerFacts.listed)), empty: "No expected purchases.") {
            column("Product") { names.product($0.productIdentifier) }
            column("Original transaction") { Shown.identifier($0.originalTransactionIdentifier) }
            column("Purchased") { Shown.day($0.purchaseDate) }
            column("Until") { Shown.day($0.expiresAt) }
            column("Origin") { OriginWords.html($0.origin) }
        }
        if purchases.count > CustomerFacts.listed {
            p { plain("+ \(purchases.count - CustomerFacts.listed)") }
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
        Listing.table("Transactions", of: transactions, empty: "The customer has redeemed nothing.", next: next) {
            column("Product") { transaction in
                a(.href(transaction.path(of: user))) { names.product(transaction.productIdentifier) }
            }
            column("Bought") { Shown.day($0.purchaseDate) }
            column("Until") { Shown.day($0.accessEnd(among: transactions)) }
            column("Price") { Shown.money($0.paidPrice) }
            column("State") { state(of: $0) }
        }
    }

    @HTMLBuilder private func state(of transaction: RedeemedTransaction) -> HTML {
        if transaction.revocation != nil {
            Shown.badge("revoked by the team", .bad)
        } else if transaction.revocationDate != nil {
            Shown.badge("refunded or revoked", .bad)
        } else if let end = transaction.accessEnd(among: transactions), end <= now {
            Shown.badge("over")
        } else {
            Shown.badge("valid", .good)
        }
        plain(" ")
        OriginWords.mark(transaction.origin)
    }
}
