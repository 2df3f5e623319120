import Catalog
import Foundation
import Ledger
import Proofs

extension LedgerTransaction {
    /// The balances that a user has ever had, by name, as users see them, with the purchases of some origins.
    package func balances(of user: User, accepting origins: Set<Origin>) throws -> [Credit] {
        guard let user = try users.known(user) else { return [] }
        return try BalanceRecords(database: database).balances(of: user, accepting: origins).map(\.credit)
    }

    /// The names of the balances to which a user's purchases of other apps than the caller's have added.
    func balances(of user: User, filledOutside limit: AppLimit) throws -> Set<ByteKey> {
        guard let user = try users.known(user) else { return [] }
        return try BalanceRecords(database: database).balances(of: user, filledOutside: limit)
    }

    /// Checks that no purchase of another app has added to a user's balance.
    ///
    /// - Throws: `AppLimitError`.
    func check(_ balance: String, of user: User, isOnlyOf limit: AppLimit) throws {
        guard try !balances(of: user, filledOutside: limit).contains(ByteKey(balance)) else {
            throw AppLimitError.balanceOfAnotherApp(balance, app: limit.app)
        }
    }

    /// Adds to a user's balance, and stores the answer to the caller in the same commit. Adds nothing if another process has
    /// stored an answer under the same key.
    ///
    /// - Parameter oldest: Answers from before are deleted first.
    /// - Returns: The answer that another process has stored; nil if the amount was added.
    package func add(
        _ addition: BalanceAddition,
        for user: User,
        keeping answer: KeptAnswer?,
        for key: IdempotencyKey?,
        deletingBefore oldest: Timestamp
    ) throws -> KeptAnswer? {
        let user = try number(of: user, at: addition.addedAt)
        if let kept = try earlierAnswer(
            orKeeping: answer, for: key, about: user, at: addition.addedAt, deletingBefore: oldest)
        {
            return kept
        }
        var heads = try users.heads(of: [user])
        try BalanceRecords(database: database).insert(addition, for: user)
        let entry = AuditEntry(
            happenedAt: addition.addedAt, event: .credited, actor: AuditActor(caller: addition.addedBy), origin: nil,
            reference: addition.identifier, subject: "\(addition.amount) \(addition.balance)", reason: addition.reason)
        try record(entry, of: user, &heads)
        return nil
    }

    /// Spends a part of a user's balance, once for each idempotency key of the user.
    ///
    /// - Parameters:
    ///   - origins: The origins whose purchases add to the balance.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    /// - Throws: `AppLimitError` for a balance to which purchases of another app have added.
    package func spend(
        _ spending: Spending,
        for user: User,
        accepting origins: Set<Origin>,
        seeing limit: AppLimit? = nil
    ) throws -> SpendingAnswer {
        if let limit { try check(spending.balance, of: user, isOnlyOf: limit) }
        guard let user = try users.known(user) else { return spending.answer(from: [], earlier: nil) }
        let records = BalanceRecords(database: database)
        // The heads are read first, so that a concurrent writer changes their version.
        var heads = try users.heads(of: [user])
        let answer = spending.answer(
            from: try records.balances(of: user, accepting: origins),
            earlier: try records.earlier(for: spending.request, of: user))
        guard case .spent(let left) = answer else { return answer }
        try records.insert(spending, left: left, for: user)
        let entry = AuditEntry(
            happenedAt: spending.spentAt, event: .spent, actor: AuditActor(caller: spending.spentBy), origin: nil,
            reference: spending.identifier, subject: "\(spending.amount) \(spending.balance)", reason: spending.reason)
        try record(entry, of: user, &heads)
        return answer
    }
}

extension LedgerTransaction {
    /// The items of a user at a moment, by redeemed transactions of some origins and by grants, each once, in order.
    package func items(of user: User, accepting origins: Set<Origin>, at moment: Timestamp) throws -> [Item] {
        try ReadingRecords(database: database).items(of: user, accepting: origins, at: moment)
    }

    /// The items of a user at a moment, with their periods and sources, each once, in order.
    ///
    /// - Parameters:
    ///   - origins: The origins that are valid for the user.
    ///   - free: The items that everybody owns.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    package func ownedItems(
        of user: User,
        accepting origins: Set<Origin>,
        owningBesides free: [Item],
        seeing limit: AppLimit? = nil,
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) throws -> [OwnedItem] {
        let coverage = try OwnedItemRecords(database: database)
            .coverage(of: user, accepting: origins, seeing: limit, until: moment)
        return OwnedItem.all(by: coverage, owningBesides: free, at: moment, type: type)
    }

    /// The rights that a user has or had at a moment, in the order of their definitions.
    ///
    /// - Parameters:
    ///   - origins: The origins that are valid for the user.
    ///   - free: The items that everybody owns.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    package func rights(
        _ rights: [RightSources],
        of user: User,
        accepting origins: Set<Origin>,
        owningBesides free: [Item],
        seeing limit: AppLimit? = nil,
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) throws -> [UserRight] {
        let coverage = try OwnedItemRecords(database: database)
            .coverage(of: user, accepting: origins, seeing: limit, until: moment)
        return UserRight.all(of: rights, by: coverage, owningBesides: free, at: moment, type: type)
    }

    /// A user's redeemed transactions, newest first.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of an app, to return only its transactions; nil for all apps.
    ///   - sequence: The number of the last transaction of the previous page; nil for the first page. Later redemptions do not
    ///     change the following pages.
    ///   - limit: The maximum number of transactions.
    package func transactions(
        of user: User,
        in app: String? = nil,
        before sequence: Int64?,
        limit: Int
    ) throws -> [RedeemedTransaction] {
        guard let user = try users.known(user), let app = try number(ofApp: app) else { return [] }
        return try ReadingRecords(database: database)
            .transactions(of: user, in: app.number, before: sequence ?? .max, limit: limit)
    }

    /// The subscriptions of a user with a stated renewal.
    package func renewals(of user: User) throws -> [SubscribedPurchase] {
        guard let user = try users.known(user) else { return [] }
        return try ReadingRecords(database: database).renewals(of: user)
    }

    /// Checks if anybody has redeemed a product. Reads all transactions.
    package func isRedeemed(_ productIdentifier: String) throws -> Bool {
        try database.row("SELECT 1 FROM redeemed_transaction WHERE product_id = $1 LIMIT 1", [productIdentifier])
            != nil
    }
}
