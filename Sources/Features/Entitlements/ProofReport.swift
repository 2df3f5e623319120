import Ledger
import Proofs

/// The result of verifying the stored proofs again.
package struct ProofReport: Hashable, Sendable {
    /// The number of redeemed transactions whose proof is valid.
    package internal(set) var verified = 0
    /// The number of redeemed transactions without a stored proof.
    package internal(set) var notKept = 0
    /// A sentence for each of the first transactions whose proof is invalid.
    package internal(set) var problems: [String] = []
}

extension LedgerTransaction {
    /// Verifies the stored proof of each redeemed transaction again: its signature, its chain to a trusted certificate, and its
    /// purchase.
    package func checkProofs(by verifier: ProofVerifier) throws -> ProofReport {
        guard try database.has("kept_proof") else {
            return ProofReport(notKept: try database.value("SELECT count(*) FROM redeemed_transaction", []) ?? 0)
        }
        var check = ProofCheck(
            verifier: verifier, apps: try apps,
            certificates: try database.dictionary("SELECT digest, bytes FROM kept_certificate") {
                (try $0.next(), try $0.next())
            })
        try database.streamRows(
            of: """
                SELECT bytes, redeemed.transaction_id, redeemed.product_id, redeemed.quantity, redeemed.purchase_date,
                    redeemed.proof_digest, certificates, redeemed.app, redeemed.origin
                FROM redeemed_transaction AS redeemed LEFT JOIN kept_proof
                    ON kept_proof.user_id = redeemed.user_id AND kept_proof.proof_digest = redeemed.proof_digest
                ORDER BY redeemed.user_id, redeemed.sequence
                """
        ) { try check.check(&$0) }
        return check.report
    }
}

/// The verification of stored proofs, one redeemed transaction at a time.
private struct ProofCheck {
    private static let maximumProblems = 10

    let verifier: ProofVerifier
    let apps: AppNumbers
    /// The certificates by their SHA-256.
    let certificates: [[UInt8]: [UInt8]]
    fileprivate(set) var report = ProofReport()
    /// The last proof. One receipt proves many transactions in a row.
    fileprivate var last: (digest: [UInt8], purchases: [ProvenPurchase])?

    mutating func check(_ row: inout ResultRow) throws {
        guard let bytes: [UInt8] = try row.next() else {
            report.notKept += 1
            return
        }
        let identifier: String = try row.next()
        do {
            let (product, quantity): (String, Int) = (try row.next(), try row.next())
            let purchaseDate: Timestamp = try row.next()
            let isProven = try purchases(provenBy: bytes, &row).contains { purchase in
                purchase.transactionIdentifier.hasSameBytes(as: identifier)
                    && purchase.productIdentifier.hasSameBytes(as: product) && purchase.quantity == quantity
                    && purchase.purchaseDate == purchaseDate
            }
            guard isProven else { return report("states another purchase", identifier) }
            report.verified += 1
        } catch let refusal as ProofRefusal {
            report("is refused (\(refusal.code))", identifier)
        } catch is DamagedProof {
            report("is damaged", identifier)
        }
    }

    private mutating func report(_ finding: String, _ identifier: String) {
        guard report.problems.count < Self.maximumProblems else { return }
        report.problems.append("The kept proof of transaction \(identifier) \(finding).")
    }

    private mutating func purchases(provenBy bytes: [UInt8], _ row: inout ResultRow) throws -> [ProvenPurchase] {
        let digest: [UInt8] = try row.next()
        if let last, last.digest == digest { return last.purchases }
        let chain = KeptProof.certificateDigests(try row.next()).compactMap { certificates[$0] }
        guard let proof = KeptProof.assemble(bytes, chain) else { throw DamagedProof() }
        let app = try apps.bundleIdentifier(of: try row.next())
        let expectations = ProofExpectations(
            // A converted ledger does not name its app until a service uses it.
            bundleIdentifier: app.isEmpty ? nil : app, origins: [try row.next()])
        let verified = try verifier.verify(proof, expecting: expectations)
        guard verified.digest == digest, let purchases = verified.purchases else { throw DamagedProof() }
        last = (digest, purchases)
        return purchases
    }

    private struct DamagedProof: Error {}
}
