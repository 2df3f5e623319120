import Foundation
import Ledger
import Proofs

/// The last complete reconciliation of a subject with the App Store.
package struct ReconciliationCheckpoint: Hashable, Sendable {
    /// The moment until which the statements of the App Store were fetched.
    package let until: Timestamp
    /// The number of each outcome of the run: `granted`, `duplicate`, …, or the code of a refusal.
    package let findings: [String: Int]
}

/// The use cases of the reconciliation with the App Store.
extension EntitlementService {
    /// Applies a transaction that the App Store has returned, like a notification. It goes to the user of its account token, or
    /// to the owner of the purchase. A statement for nobody is parked until a user presents the transaction.
    ///
    /// - Parameter renewalInfo: The signed renewal information of the same subscription; nil without one.
    package func receive(statement proof: [UInt8], renewalInfo: [UInt8]? = nil) async throws -> NotificationOutcome {
        let verified = try verify(proof)
        guard let purchases = verified.purchases, let purchase = purchases.first, purchases.count == 1 else {
            throw RedemptionError.notRedeemable
        }
        let renewal = try renewalInfo.map { try self.renewal(in: $0, of: purchase, from: verified.origin) }
        return try await outcome(of: .state(try claims(verified, proof).claim(purchase, renewal: renewal)))
    }

    private func renewal(
        in proof: [UInt8],
        of purchase: ProvenPurchase,
        from origin: Origin
    ) throws(RedemptionError) -> StatedRenewal {
        let verified = try verify(proof)
        guard case .renewalInfo(let content) = verified.content, let renewal = verified.renewal,
            verified.origin == origin,
            content.originalTransactionId.hasSameBytes(as: purchase.originalTransactionIdentifier)
        else { throw .notRedeemable }
        return renewal
    }
}

extension LedgerTransaction {
    /// The checkpoint of a reconciliation; nil if there was none.
    package func checkpoint(ofReconciliation subject: String) throws -> ReconciliationCheckpoint? {
        try database.row("SELECT findings, reconciled_until FROM reconciliation WHERE subject = $1", [subject]) { row in
            let text: String = try row.next()
            guard let findings = try? JSONDecoder().decode([String: Int].self, from: Data(text.utf8)) else {
                throw ColumnMismatch.column("findings")
            }
            return ReconciliationCheckpoint(until: try row.next(), findings: findings)
        }
    }

    /// Stores the checkpoint of a reconciliation, unless a later one is stored.
    package func setReconciled(_ subject: String, until moment: Timestamp, findings: [String: Int]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        _ = try database.execute(
            """
            INSERT INTO reconciliation (subject, reconciled_until, findings) VALUES ($1, $2, $3)
            ON CONFLICT (subject) DO UPDATE
            SET reconciled_until = excluded.reconciled_until, findings = excluded.findings
            WHERE excluded.reconciled_until > reconciliation.reconciled_until
            """,
            [subject, moment, String(decoding: try encoder.encode(findings), as: UTF8.self)])
    }
}
