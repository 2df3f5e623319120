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
                ("Product", product),
                ("Gives", benefit),
                ("Transaction", Shown.identifier(transaction.transactionIdentifier)),
                ("Original transaction", Shown.identifier(transaction.originalTransactionIdentifier)),
                ("Origin", OriginWords.html(transaction.origin)),
                ("App", Shown.identifier(transaction.app)),
                ("Quantity", plain(String(transaction.quantity))),
                ("Bought", Shown.moment(transaction.purchaseDate)),
                ("Redeemed", Shown.moment(transaction.redeemedAt)),
                ("Last statement", Shown.moment(recorded.statedAt)),
                ("Ends", Shown.moment(transaction.expiresAt)),
                ("Revoked by Apple", Shown.moment(transaction.revocationDate)),
                ("Revoked by the team", revocation),
            ])
            h3 { "The proof" }
            Facts.list([
                ("Digest (SHA-256)", digest),
                ("Trusted certificate (SHA-256)", Shown.identifier(recorded.anchorDigest?.hexadecimal)),
                ("Signing certificate (SHA-256)", Shown.identifier(recorded.leafDigest?.hexadecimal)),
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
                    a(.href(.customer(user, "proofs", recorded.proofDigest.hexadecimal))) { "Decode the kept proof" }
                }
            }
        }
    }
}
