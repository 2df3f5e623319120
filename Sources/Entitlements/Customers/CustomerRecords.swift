import Ledger
import Proofs
import Vocabulary

/// A record of a user's audit log, with its place in the hash chain.
package struct RecordedEvent: Hashable, Sendable {
    package let record: AuditRecord
    /// The digest of the record before; zeros for a user's first record.
    package let previousDigest: [UInt8]
    /// True if the digest follows from the record and the record before it.
    package let isIntact: Bool
    /// The owner of a purchase that was refused to the user; nil for another event.
    package let otherOwner: User?
}

/// A redeemed transaction with all facts about its proof.
package struct RecordedTransaction: Hashable, Sendable {
    package let transaction: RedeemedTransaction
    /// The date of the last statement about the transaction.
    package let statedAt: Timestamp
    /// The SHA-256 of the signed bytes.
    package let proofDigest: [UInt8]
    /// The SHA-256 of the trusted certificate that ends the chain; nil for a purchase without a proof.
    package let anchorDigest: [UInt8]?
    /// The SHA-256 of the certificate that has signed; nil for a purchase without a proof.
    package let leafDigest: [UInt8]?
    /// True if the ledger stores the signed bytes.
    package let isProofKept: Bool
    package let items: [Item]
    /// The amount that the transaction adds to a balance; nil for none.
    package let credit: Credit?
}

/// The records about a single customer.
extension LedgerTransaction {
    /// A record of a user's audit log; nil if there is none of that number.
    package func recordedEvent(_ number: Int64, of user: User) throws -> RecordedEvent? {
        guard number > 0 else { return nil }
        let records = try audit(of: user, after: max(0, number - 2), limit: 2).filter { $0.number <= number }
        guard let record = records.last, record.number == number else { return nil }
        let previous = records.first.flatMap { $0.number == number - 1 ? $0 : nil }
        let entry = record.entry
        let owner = entry.event == .refused ? try owners(of: [entry])[entry.reference] : nil
        return RecordedEvent(
            record: record, previousDigest: previous?.digest ?? AuditRecord.beginning,
            isIntact: record.follows(previous), otherOwner: owner == user ? nil : owner)
    }

    /// A notification about a purchase of a user; nil for another notification.
    package func recordedNotification(
        _ identifier: String,
        from origin: Origin,
        of user: User
    ) throws -> StatedNotification? {
        let found = try database.row(
            """
            SELECT \(StatedNotification.columns), app FROM notification WHERE notification_uuid = $1 AND origin = $2
            """,
            [identifier, origin]
        ) { (stated: try StatedNotification(&$0), app: try $0.next() as Int64) }
        guard let found, let original = found.stated.originalTransactionIdentifier, let user = try users.known(user)
        else { return nil }
        let isUsers = try database.hasRow(
            """
            SELECT 1 FROM redeemed_transaction
            WHERE user_id = $1 AND original_transaction_id = $2 AND origin = $3 AND app = $4 LIMIT 1
            """,
            [user, SQLValue.packed(original), origin, found.app])
        return isUsers ? found.stated : nil
    }

    /// A user's transactions of an identifier, with the facts about their proofs. There are several if origins share the
    /// identifier.
    package func recordedTransactions(_ identifier: String, of user: User) throws -> [RecordedTransaction] {
        guard let user = try users.known(user) else { return [] }
        let isKept =
            try database.has("kept_proof")
            ? """
            (SELECT count(*) FROM kept_proof WHERE kept_proof.user_id = redeemed.user_id
                AND kept_proof.proof_digest = redeemed.proof_digest)
            """ : "0"
        let proofs = try database.rows(
            """
            SELECT redeemed.sequence, stated_at, proof_digest, anchor_digest, leaf_digest, \(isKept), balance, amount
            FROM redeemed_transaction AS redeemed LEFT JOIN credit
                ON credit.user_id = redeemed.user_id AND credit.sequence = redeemed.sequence
                LEFT JOIN chain ON chain.chain = redeemed.chain
            WHERE redeemed.user_id = $1 AND transaction_id = $2
            """,
            [user, SQLValue.packed(identifier)]
        ) { row in
            (
                sequence: try row.next() as Int64, statedAt: try row.next() as Timestamp,
                digest: try row.next() as [UInt8], anchorDigest: try row.next() as [UInt8]?,
                leafDigest: try row.next() as [UInt8]?, isKept: try row.next() as Bool,
                balance: try row.next() as String?, amount: try row.next() as Int?
            )
        }
        return try ReadingRecords(database: database).transactions([identifier], of: user).compactMap { transaction in
            guard let proof = proofs.first(where: { $0.sequence == transaction.sequence }) else { return nil }
            return RecordedTransaction(
                transaction: transaction, statedAt: proof.statedAt, proofDigest: proof.digest,
                anchorDigest: proof.anchorDigest, leafDigest: proof.leafDigest, isProofKept: proof.isKept,
                items: try items(of: [transaction.sequence], of: user),
                credit: proof.balance.flatMap { name in proof.amount.map { Credit(balance: name, amount: $0) } })
        }
    }
}
