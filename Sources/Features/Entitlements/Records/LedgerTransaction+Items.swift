import Catalog
import Foundation
import Ledger
import Proofs

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
