import Features
import Proofs

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
            bdi { names.product(recorded.transaction.productIdentifier) }
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
            ActorWords.html(caller: revocation.revokedBy, keys)
            plain(" · ")
            data(revocation.reason)
        }
    }

    private var digest: HTML {
        HTML {
            Shown.identifier(recorded.proofDigest.hexadecimal)
            if recorded.isProofKept {
                div {
                    a(.href(.customer(user, "proofs", recorded.proofDigest.hexadecimal))) {
                        Phrase("Decode the kept proof", "보관한 증명 해독")
                    }
                }
            }
        }
    }
}
