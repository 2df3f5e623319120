import Features
import Proofs

/// The facts that the ledger stores about a redeemed transaction and its proof.
struct TransactionFactList {
    let user: User
    let recorded: RecordedTransaction
    let keys: [String: String]
    let names: CatalogNames

    @HTMLBuilder var html: HTML {
        let transaction = recorded.transaction
        Facts.list {
            fact("Product") { product }
            fact("Gives") { benefit }
            fact("Transaction") { Shown.identifier(transaction.transactionIdentifier) }
            fact("Original transaction") { Shown.identifier(transaction.originalTransactionIdentifier) }
            fact("Origin") { OriginWords.html(transaction.origin) }
            fact("App") { Shown.identifier(transaction.app) }
            fact("Quantity") { plain(String(transaction.quantity)) }
            fact("Bought") { Shown.moment(transaction.purchaseDate) }
            fact("Redeemed") { Shown.moment(transaction.redeemedAt) }
            fact("Last statement") { Shown.moment(recorded.statedAt) }
            fact("Ends") { Shown.moment(transaction.expiresAt) }
            fact("Revoked by Apple") { Shown.moment(transaction.revocationDate) }
            fact("Revoked by the team") { revocation }
        }
        h3 { "The proof" }
        Facts.list {
            fact("Digest (SHA-256)") { digest }
            fact("Trusted certificate (SHA-256)") { Shown.identifier(recorded.anchorDigest?.hexadecimal) }
            fact("Signing certificate (SHA-256)") { Shown.identifier(recorded.leafDigest?.hexadecimal) }
        }
    }

    @HTMLBuilder private var product: HTML {
        bdi { names.product(recorded.transaction.productIdentifier) }
        plain(" ")
        Shown.identifier(recorded.transaction.productIdentifier)
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
            spaced(by: " · ", ActorWords.html(caller: revocation.revokedBy, keys), data(revocation.reason))
        }
    }

    @HTMLBuilder private var digest: HTML {
        Shown.identifier(recorded.proofDigest.hexadecimal)
        if recorded.isProofKept {
            div { a(.href(.customer(user, "proofs", recorded.proofDigest.hexadecimal))) { "Decode the kept proof" } }
        }
    }
}
