import Commerce
import Entitlements
import Receipts
import Signatures

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
        switch (fact, value) {
        case (.originalPurchaseDate, .integer(let number)), (.expiresDate, .integer(let number)),
            (.signedDate, .integer(let number)):
            Shown.moment(Timestamp(millisecondsSince1970: number))
        case (.price, .integer(let number)):
            Shown.money(Price(milliunits: number, currency: facts.text(.currency) ?? ""))
        case (.commitmentInfo, .text(let text)), (.advancedCommerceInfo, .text(let text)):
            ContentTree.html(ofJSON: text) ?? data(text)
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
                        GivenReason.field()
                        button(.class("danger")) { Phrase("Revoke", "회수") }
                    }
                } else {
                    summary { Phrase("Reinstate the purchase", "구매 회수 취소") }
                    context.form(to: transaction.path(of: user, "reinstatement")) {
                        GivenReason.field()
                        button(.class("primary")) { Phrase("Reinstate", "회수 취소") }
                    }
                }
            }
        }
    }
}

/// The facts that the ledger stores about a redeemed transaction and its proof.
struct TransactionFactList {
    let user: User
    let recorded: RecordedTransaction
    let keys: [String: String]
    let names: CatalogNames

    var html: HTML {
        let transaction = recorded.transaction
        return HTML {
            Facts.list([
                (Phrase("Product", "상품"), product),
                (Phrase("Gives", "주는 것"), benefit),
                (Phrase("Transaction", "거래"), Shown.identifier(transaction.transactionIdentifier)),
                (
                    Phrase("Original transaction", "원 거래"),
                    Shown.identifier(transaction.originalTransactionIdentifier)
                ),
                (Phrase("Origin", "출처"), OriginWords.html(transaction.origin)),
                (Phrase("App", "앱"), Shown.identifier(transaction.app)),
                (Phrase("Quantity", "수량"), plain(String(transaction.quantity))),
                (Phrase("Bought", "구매"), Shown.moment(transaction.purchaseDate)),
                (Phrase("Redeemed", "등록"), Shown.moment(transaction.redeemedAt)),
                (Phrase("Last statement", "마지막 알림"), Shown.moment(recorded.statedAt)),
                (Phrase("Ends", "종료"), Shown.moment(transaction.expiresAt)),
                (Phrase("Revoked by Apple", "Apple의 회수"), Shown.moment(transaction.revocationDate)),
                (Phrase("Revoked by the team", "팀의 회수"), revocation),
            ])
            h3 { Phrase("The proof", "증명") }
            Facts.list([
                (Phrase("Digest (SHA-256)", "다이제스트 (SHA-256)"), digest),
                (
                    Phrase("Trusted certificate (SHA-256)", "신뢰하는 인증서 (SHA-256)"),
                    Shown.identifier(recorded.anchorDigest?.hexadecimal)
                ),
                (
                    Phrase("Signing certificate (SHA-256)", "서명한 인증서 (SHA-256)"),
                    Shown.identifier(recorded.leafDigest?.hexadecimal)
                ),
            ])
        }
    }

    private var product: HTML {
        HTML {
            names.product(recorded.transaction.productIdentifier)
            plain(" ")
            Shown.identifier(recorded.transaction.productIdentifier)
        }
    }

    private var benefit: HTML {
        guard !recorded.items.isEmpty || recorded.credit != nil else { return Shown.nothing }
        return HTML {
            for item in recorded.items { div { names.item(item) } }
            if let credit = recorded.credit {
                div {
                    Shown.number(Int64(credit.amount)); plain(" ")
                    data(credit.balance)
                }
            }
        }
    }

    private var revocation: HTML {
        guard let revocation = recorded.transaction.revocation else { return Shown.nothing }
        return HTML {
            Shown.moment(revocation.revokedAt)
            plain(" · ")
            CustomerWords.caller(revocation.revokedBy, keys)
            plain(" · ")
            data(revocation.reason)
        }
    }

    private var digest: HTML {
        HTML {
            Shown.identifier(recorded.proofDigest.hexadecimal)
            if recorded.isProofKept {
                div {
                    a(.href(ConsolePath("proofs", "kept", recorded.proofDigest.hexadecimal))) {
                        Phrase("Decode the kept proof", "보관한 증명 해독")
                    }
                }
            }
        }
    }
}
