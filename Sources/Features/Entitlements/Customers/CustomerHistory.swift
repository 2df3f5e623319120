import Catalog
import Ledger
import Proofs

/// The purchases and grants of a user, as far as the ledger knows them.
///
/// Without the old ones that have no effect on the user's rights, if there are very many.
package struct CustomerHistory: Sendable {
    /// The number of the newest transactions. Older ones are left out, except all periods of subscriptions, and the valid
    /// transaction of each other product that lasts longest.
    package static let newestTransactions = 10_000
    /// The number of the newest grants. Older ones are left out, except the valid grant of each item that lasts longest.
    package static let newestGrants = 1000

    /// The user by the own name, not by an alias.
    package let user: User
    package let firstSeenAt: Timestamp
    /// The transactions of accepted origins, newest first, at least all with an effect on rights.
    package let transactions: [RedeemedTransaction]
    /// The last statement about the renewal of each subscription, by its original transaction.
    package let renewals: [TransactionKey: StatedRenewal]
    /// The events about these renewals, if one is turned off or failed.
    package let renewalEvents: RenewalEvents
    /// The grants, newest first, at least all with an effect on rights.
    package let grants: [Grant]
}

/// The moments of events about the renewal of a user's subscriptions, by the latest transaction of each at that time.
package struct RenewalEvents: Hashable, Sendable {
    /// The last moments at which renewal was turned off.
    package var turnedOff: [ByteKey: Timestamp] = [:]
    /// The first moments at which a charge failed.
    package var chargeFailed: [ByteKey: Timestamp] = [:]

    package init() {}
}

extension LedgerTransaction {
    /// The purchases and grants of a user; nil for an unknown user.
    ///
    /// - Parameters:
    ///   - origins: The origins that are valid for the user.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    ///   - transactions: The number of the newest transactions that are returned in any case.
    ///   - grants: The number of the newest grants that are returned in any case.
    package func history(
        of user: User,
        accepting origins: Set<Origin>,
        seeing limit: AppLimit? = nil,
        newestTransactions transactions: Int = CustomerHistory.newestTransactions,
        newestGrants grants: Int = CustomerHistory.newestGrants
    ) throws -> CustomerHistory? {
        guard let number = try users.known(user), let known = try knownUser(user) else { return nil }
        let records = ReadingRecords(database: database)
        let apps = try AppRecords(database: database).names()
        var renewals: [TransactionKey: StatedRenewal] = [:]
        for purchase in try records.renewals(of: number)
        where origins.contains(purchase.origin) && limit?.includes(app: apps[purchase.app]) ?? true {
            let key = TransactionKey(
                app: apps[purchase.app] ?? "", origin: purchase.origin,
                identifier: purchase.originalTransactionIdentifier)
            renewals[key] = purchase.renewal
        }
        let hasEvents = renewals.values.contains { renewal in
            renewal.willRenew == false || renewal.facts.bool(.isInBillingRetryPeriod) == true
                || renewal.facts.integer(.expirationIntent) != nil
        }
        return CustomerHistory(
            user: try users.names(of: [number])[number] ?? user, firstSeenAt: known.firstSeenAt,
            transactions: try self.number(ofApp: limit?.app).map {
                try records.transactions(of: number, in: $0.number, newest: transactions)
                    .filter { origins.contains($0.origin) }
            } ?? [],
            renewals: renewals,
            renewalEvents: hasEvents ? try records.renewalEvents(of: number, from: origins) : RenewalEvents(),
            grants: try GrantRecords(database: database).grants(of: number, newest: grants)
                .filter { limit?.sees($0.item) ?? true })
    }

    /// The owners of purchases by their original transactions, each under the own name. A purchase without an owner is absent.
    package func owners(ofPurchases originals: Set<TransactionKey>) throws -> [TransactionKey: User] {
        let apps = try AppRecords(database: database).numbers(of: [])
        let owners = try EntitlementRecords(database: database, apps: apps).owners(ofPurchases: originals)
        let names = try users.names(of: Set(owners.values))
        return owners.compactMapValues { names[$0] }
    }
}

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

/// A user who has redeemed a transaction of a product.
package struct ProductCustomer: Hashable, Sendable {
    package let user: User
    /// The user's latest transaction of the product.
    package let transactionIdentifier: String
    package let origin: Origin
    package let purchaseDate: Timestamp
    package let redeemedAt: Timestamp

    /// A page of the customers of a product.
    package struct Page: Hashable, Sendable {
        /// The customers, the latest redemption first.
        package let customers: [ProductCustomer]
        /// The end of the page; nil on the last page. A page may be short, even empty, before the last one.
        package let next: Position?
    }

    /// The position of a transaction in the list of a product: its redemption, its user, and its number among the user's.
    package struct Position: Hashable, Sendable, CustomStringConvertible {
        let redeemedAt: Timestamp
        let user: Int64
        let sequence: Int64

        package var description: String { "\(redeemedAt.millisecondsSince1970) \(user) \(sequence)" }
    }
}

extension ProductCustomer.Position {
    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 3, let moment = numbers[0], let user = numbers[1], let sequence = numbers[2] else {
            return nil
        }
        self.init(redeemedAt: Timestamp(millisecondsSince1970: moment), user: user, sequence: sequence)
    }
}

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

/// A notification about a purchase of a user, with the digest of its signed bytes.
package struct RecordedNotification: Hashable, Sendable {
    package let notification: StatedNotification
    /// The SHA-256 of the signed bytes.
    package let proofDigest: [UInt8]
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
    /// The items that the transaction grants.
    package let items: [Item]
    /// The amount that the transaction adds to a balance; nil for none.
    package let credit: Credit?
}
