import Commerce

/// The durable record of who redeemed which transaction and owns what because of it.
///
/// Each call is one use case, all of it or none, and is durable when it returns. Implementations promise:
/// - a transaction, and the original purchase it belongs to, has one owner for good;
/// - two calls at once end as if one had come after the other.
public protocol Ledger: Sendable {
    /// Records claims of one user, in order, and what they grant.
    ///
    /// - Throws: `StorageFault`; then nothing was recorded.
    func redeem(_ claims: [Claim], for user: User, at moment: Timestamp) throws(StorageFault) -> LedgerAnswer

    /// What a user owns by redeemed transactions that stand, each item once, in order.
    func items(of user: User) throws(StorageFault) -> [Item]
}
