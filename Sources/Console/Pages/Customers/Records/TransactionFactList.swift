import Features
import Proofs

extension CustomerView {
    /// The facts that the ledger stores about a redeemed transaction and its proof.
    @HTMLBuilder func facts(of recorded: RecordedTransaction) -> HTML {
        let transaction = recorded.transaction
        Facts.list {
            fact("Product") {
                spaced(
                    bdi { names.product(transaction.productIdentifier) },
                    Shown.identifier(transaction.productIdentifier))
            }
            fact("Gives") {
                if recorded.items.isEmpty, recorded.credit == nil { Shown.nothing }
                for item in recorded.items { div { names.item(item) } }
                if let credit = recorded.credit {
                    div { spaced(Shown.number(Int64(credit.amount)), data(credit.balance)) }
                }
            }
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
            fact("Revoked by the team") {
                if let revocation = transaction.revocation {
                    spaced(
                        by: " · ", Shown.moment(revocation.revokedAt),
                        ActorWords.html(caller: revocation.revokedBy, keys), data(revocation.reason))
                } else {
                    Shown.nothing
                }
            }
        }
        h3 { "The proof" }
        Facts.list {
            fact("Digest (SHA-256)") {
                let digest = recorded.proofDigest.hexadecimal
                Shown.identifier(digest)
                if recorded.isProofKept {
                    div { a(.href(.customer(user, "proofs", digest))) { "Decode the kept proof" } }
                }
            }
            fact("Trusted certificate (SHA-256)") { Shown.identifier(recorded.anchorDigest?.hexadecimal) }
            fact("Signing certificate (SHA-256)") { Shown.identifier(recorded.leafDigest?.hexadecimal) }
        }
    }
}
