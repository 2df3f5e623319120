import Foundation
import Ledger
import Proofs

/// A transaction that is redeemed for the first time.
struct NewTransaction {
    let claim: Claim
    let transaction: EntitlementFacts.Transaction
    let owner: Int64
    let sequence: Int64
    let benefit: StandingBenefit

    var isRevoked: Bool { benefit.coverage.isRevoked }
}

/// The SQL that writes new transactions and their benefits.
extension EntitlementChangeRecords {
    func insert(_ new: [NewTransaction]) throws {
        try database.insert(
            into: "claim", Table.transactionKey + ["original_transaction_id", "user_id"],
            // The order of the keys prevents deadlocks between two groups.
            new.sorted { $0.claim.key < $1.claim.key }.map { new in
                new.claim.key.sqlValues(apps) + [new.claim.originalTransactionIdentifier, new.owner]
            })
        try insertTransactions(new)
        try insertCredits(new)
        try insertEntitlements(new)
        try insertProofs(new)
    }

    /// Inserts each proof once for each user, and each certificate once.
    private func insertProofs(_ new: [NewTransaction]) throws {
        // All purchases of a receipt have the same proof.
        var seen: Set<[UInt8]> = []
        let proofs = new.compactMap { new -> (owner: Int64, proof: KeptProof)? in
            guard let proof = new.claim.proof, seen.insert(proof.digest + Array("\(new.owner)".utf8)).inserted else {
                return nil
            }
            return (new.owner, proof)
        }
        guard !proofs.isEmpty else { return }
        let certificates = Dictionary(
            proofs.flatMap(\.proof.certificates).map { (DigestAlgorithm.sha256.digest(of: $0), $0) }
        ) { first, _ in first }
        try database.insert(
            into: "kept_certificate", ["digest", "bytes"],
            certificates.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { [$0, $1] }, isNew: false)
        try database.insert(
            into: "kept_proof", ["user_id", "proof_digest", "bytes", "certificates"],
            proofs.map { owner, proof in
                [
                    owner, proof.digest, proof.bytes,
                    proof.certificates.flatMap { DigestAlgorithm.sha256.digest(of: $0) },
                ]
            }, isNew: false)
    }

    private func insertTransactions(_ new: [NewTransaction]) throws {
        try database.insert(
            into: "redeemed_transaction",
            [
                "user_id", "sequence", "original_transaction_id", "transaction_id", "origin", "app", "product_id",
                "quantity", "purchase_date", "redeemed_at", "proof_digest", "anchor_digest", "leaf_digest",
            ] + EntitlementFacts.Transaction.statementColumns + TransactionFacts.columnNames,
            try new.map { new in
                let claim = new.claim
                return [
                    new.owner, new.sequence, claim.originalTransactionIdentifier, claim.transactionIdentifier,
                    claim.origin, apps[claim.app], claim.productIdentifier, claim.quantity, claim.purchaseDate,
                    decision.moment,
                    claim.proofDigest, claim.fingerprints?.anchor, claim.fingerprints?.leaf,
                ] + (try new.transaction.statementValues) + (new.transaction.stated ?? TransactionFacts()).sqlValues
            })
    }

    private func insertCredits(_ new: [NewTransaction]) throws {
        try database.insert(
            into: "credit", ["user_id", "sequence", "balance", "amount", "origin", "is_revoked"],
            new.compactMap { new in
                new.claim.credit.map { credit in
                    [
                        new.owner, new.sequence, credit.balance, credit.amount * new.claim.quantity, new.claim.origin,
                        new.isRevoked,
                    ]
                }
            })
    }

    private func insertEntitlements(_ new: [NewTransaction]) throws {
        try database.insert(
            into: "entitlement",
            ["user_id", "sequence", "collection", "number", "origin", "app"] + ItemPurchase.columns
                + StandingBenefit.columns,
            new.compactMap { new in
                let claim = new.claim
                return claim.item.map { item in
                    [
                        new.owner, new.sequence, item.collection, item.number, claim.origin, apps[claim.app],
                        claim.purchaseDate, decision.moment, claim.transactionIdentifier,
                        claim.originalTransactionIdentifier, claim.productIdentifier,
                    ] + new.benefit.sqlValues
                }
            })
    }
}
