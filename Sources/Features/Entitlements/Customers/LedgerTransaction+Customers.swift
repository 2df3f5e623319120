import Ledger
import Proofs

/// The queries about single customers.
extension LedgerTransaction {
    /// A user with the account token; nil for an unknown user.
    package func customer(_ user: User) throws -> KnownUser? {
        try knownUser(user).map {
            KnownUser(user: user, appAccountToken: $0.appAccountToken, firstSeenAt: $0.firstSeenAt)
        }
    }

    /// The customers of a product, the latest redemption first.
    ///
    /// - Parameter position: The end of the previous page; nil for the first page.
    package func customers(
        ofProduct product: String,
        after position: ProductCustomer.Position?,
        limit: Int
    ) throws -> ProductCustomer.Page {
        try CustomerRecords(database: database).customers(ofProduct: product, after: position, users, limit: limit)
    }

    /// A user's transactions of some identifiers, in no order.
    package func transactions(of user: User, identifiedBy identifiers: [String]) throws -> [RedeemedTransaction] {
        guard !identifiers.isEmpty, let user = try users.known(user) else { return [] }
        return try ReadingRecords(database: database).transactions(identifiers, of: user)
    }

    /// True if a user has redeemed a transaction, also if it is revoked.
    package func hasPurchases(_ user: User) throws -> Bool {
        guard let user = try users.known(user) else { return false }
        return try CustomerRecords(database: database).hasPurchases(user)
    }

    /// A user's transactions of an identifier, with the facts about their proofs. There are several if origins share the
    /// identifier.
    package func recordedTransactions(_ identifier: String, of user: User) throws -> [RecordedTransaction] {
        guard let user = try users.known(user) else { return [] }
        let proofs = try CustomerRecords(database: database).proofs(of: identifier, of: user)
        let support = SupportRecords(database: database, apps: try AppRecords(database: database).numbers(of: []))
        return try ReadingRecords(database: database).transactions(identifier, of: user).compactMap { transaction in
            guard let proof = proofs.first(where: { $0.sequence == transaction.sequence }) else { return nil }
            return RecordedTransaction(
                transaction: transaction, statedAt: proof.statedAt, proofDigest: proof.digest,
                anchorDigest: proof.anchorDigest, leafDigest: proof.leafDigest, isProofKept: proof.isKept,
                items: try support.items(of: [transaction.sequence], of: user), credit: proof.credit)
        }
    }

    /// A notification about a purchase of a user; nil for another notification.
    package func recordedNotification(
        _ identifier: String,
        from origin: Origin,
        of user: User
    ) throws -> RecordedNotification? {
        guard let user = try users.known(user) else { return nil }
        return try CustomerRecords(database: database).notification(identifier, from: origin, of: user)
    }

    /// A record of a user's audit log; nil if there is none of that number.
    package func recordedEvent(_ number: Int64, of user: User) throws -> RecordedEvent? {
        guard number > 0 else { return nil }
        let records = try audit(of: user, after: max(0, number - 2), limit: 2).filter { $0.number <= number }
        guard let record = records.last, record.number == number else { return nil }
        let previous = records.first.flatMap { $0.number == number - 1 ? $0 : nil }
        var owner: User?
        if record.entry.event == .refused {
            owner = try SupportRecords(database: database, apps: try AppRecords(database: database).numbers(of: []))
                .owners(of: [record.entry], users)[record.entry.reference]
        }
        return RecordedEvent(
            record: record, previousDigest: previous?.digest ?? AuditRecord.beginning,
            isIntact: record.follows(previous), otherOwner: owner.flatMap { $0 == user ? nil : $0 })
    }
}
