import Commerce
import Foundation

/// The durable record of who redeemed which transaction and owns what because of it.
///
/// Each call is one use case, all of it or none, and is durable when it returns. Implementations promise:
/// - a transaction, and the original purchase it belongs to, has one owner at a time;
/// - two calls at once end as if one had come after the other.
public protocol Ledger: Sendable {
    /// Whether a question is answered sooner than another thread could be asked for it, with a disk that is well.
    var answersAtOnce: Bool { get }

    /// Runs use cases in order, and in one commit where nothing stands against it: each call of theirs is whole or leaves no
    /// trace, and is durable when this returns.
    ///
    /// - Parameter useCases: Each calls this ledger, on the thread it is called on, and keeps its own result. One may be run
    ///   again; then its last result counts.
    /// - Returns: For each, why nothing of it was recorded, or nobody knows, whatever it has kept; nil where it counts.
    func together(_ useCases: [() -> Void]) -> [StorageFault?]

    /// Records claims of one user, in order, and what they grant.
    ///
    /// - Parameters:
    ///   - policy: What happens to purchases that are another user's.
    ///   - origins: Whose purchases count for the user, among the items that are answered.
    /// - Throws: `StorageFault`; then nothing was recorded.
    func redeem(
        _ claims: [Claim],
        for user: User,
        under policy: OwnershipPolicy,
        counting origins: Set<Origin>,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws(LedgerError) -> LedgerAnswer

    /// Records a notification of the App Store, and what it states of a transaction.
    ///
    /// The statement reaches whoever's account token it names, else whoever owns the transaction; where that is nobody, it
    /// waits for the user who will claim the transaction.
    ///
    /// - Parameters:
    ///   - claim: nil for a notification about no transaction.
    ///   - accepted: The origins of each user. A statement of another origin grants its user nothing.
    /// - Throws: `StorageFault`; then nothing was recorded.
    func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome

    /// Records what the App Store states of a transaction, as a notification would have it.
    ///
    /// - Throws: `StorageFault`; then nothing was recorded.
    func record(
        _ claim: Claim,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome

    /// What a user owns at a moment, by redeemed transactions of some origins and grants that stand, each item once, in order.
    func items(of user: User, counting origins: Set<Origin>, at moment: Timestamp) throws(StorageFault) -> [Item]

    /// A user's redeemed transactions, newest first.
    ///
    /// - Parameters:
    ///   - sequence: Only those older than the one with this number; nil for all. What is redeemed meanwhile moves nothing.
    ///   - limit: At most so many.
    func transactions(of user: User, before sequence: Int64?, limit: Int) throws(StorageFault) -> [RedeemedTransaction]

    /// What has happened to what a user owns, from the first on.
    ///
    /// - Parameters:
    ///   - number: Only what came after the record of this number; 0 for all.
    ///   - limit: At most so many.
    func audit(of user: User, after number: Int64, limit: Int) throws(StorageFault) -> [AuditRecord]

    /// Gives an item without a purchase, and keeps what the caller is answered, in the same commit. Where an answer is kept
    /// for the same key already, nothing is given.
    ///
    /// - Parameter oldest: Answers kept before are forgotten first.
    func add(
        _ grant: Grant,
        for user: User,
        keeping answer: KeptAnswer?,
        for key: IdempotencyKey?,
        forgettingBefore oldest: Timestamp
    ) throws(LedgerError)

    /// A user's grants, newest first; as `transactions` are.
    func grants(of user: User, before sequence: Int64?, limit: Int) throws(StorageFault) -> [Grant]

    /// Takes a grant back; one that was taken back before stays as it is.
    ///
    /// - Returns: The grant; nil when the user has none of that identifier.
    func revoke(grant identifier: String, of user: User, _ revocation: Revocation) throws(StorageFault) -> Grant?

    /// Takes back the purchase that a redeemed transaction is of, whatever the App Store says of it and whatever restores
    /// it, or lets it count again. One that was taken back before stays as it is.
    ///
    /// - Parameter origin: nil for any.
    /// - Returns: The transaction as it is then; none when the user has redeemed none of that identifier, and several,
    ///   unchanged, when origins share the identifier.
    func change(
        _ change: PurchaseChange,
        ofTransaction identifier: String,
        origin: Origin?,
        of user: User
    ) throws(StorageFault) -> [RedeemedTransaction]

    /// The token a user's app puts into its purchases (StoreKit's `appAccountToken`), made at first sight.
    func appAccountToken(of user: User, at moment: Timestamp) throws(LedgerError) -> UUID

    /// Gives a user an account token that somebody else has made, unless the user has one.
    func setAppAccountToken(
        _ token: UUID,
        of user: User,
        at moment: Timestamp
    ) throws(LedgerError) -> AppAccountTokenAnswer

    /// The answer kept for a request that is sent again; nil when there is none, or none that was kept since a moment.
    func keptAnswer(for key: IdempotencyKey, since moment: Timestamp) throws(StorageFault) -> KeptAnswer?

    /// Keeps an answer, unless another process was quicker, and forgets those older than a moment.
    ///
    /// - Parameter user: Whom it is about: it goes when they do.
    /// - Returns: The answer that is kept.
    func keep(
        _ answer: KeptAnswer,
        for key: IdempotencyKey,
        about user: User,
        at moment: Timestamp,
        forgettingBefore oldest: Timestamp
    ) throws(StorageFault) -> KeptAnswer

    /// Users who have redeemed something, one for each origin of theirs, in an order that stays.
    ///
    /// - Parameters:
    ///   - number: Only those after the one with this number; 0 for all.
    ///   - origins: Only purchases of these.
    ///   - limit: At most so many users.
    func customers(after number: Int64, of origins: Set<Origin>, limit: Int) throws(StorageFault) -> [Customer]

    /// What the App Store has asked about customers who want their money back (`CONSUMPTION_REQUEST`), as far as it is not
    /// settled, oldest first.
    ///
    /// - Parameters:
    ///   - moment: Only what was asked since.
    ///   - origins: Only by these.
    func openConsumptionRequests(
        since moment: Timestamp,
        of origins: Set<Origin>,
        limit: Int
    ) throws(StorageFault) -> [OpenConsumptionRequest]

    /// Has a question asked no more; one that was settled before stays as it is.
    func settle(_ request: OpenConsumptionRequest, at moment: Timestamp) throws(StorageFault)

    /// Until when a subject was reconciled with the App Store; nil when it never was.
    func reconciled(_ subject: String) throws(StorageFault) -> Timestamp?

    /// Remembers until when a subject was reconciled; what was remembered of a later moment stays.
    func setReconciled(_ subject: String, until moment: Timestamp) throws(StorageFault)

    /// What a user has of everything they ever had some of by purchases of some origins, by name; nothing is below zero.
    func balances(of user: User, counting origins: Set<Origin>) throws(StorageFault) -> [Credit]

    /// Spends a part of a user's balance, once for each idempotency key of the user.
    ///
    /// - Parameter origins: The origins whose purchases count.
    func spend(
        _ spending: Spending,
        for user: User,
        counting origins: Set<Origin>
    ) throws(StorageFault) -> SpendingAnswer

    /// Everything there is of a user, as of one moment; nil for one the ledger has not seen.
    func archive(
        of user: User,
        counting origins: Set<Origin>,
        at moment: Timestamp
    ) throws(StorageFault) -> UserArchive?

    /// Erases who a user is: the name, the account, the profile, what people have written. What was redeemed stays redeemed, by
    /// a tombstone whose name is chance, so that no proof of it can be redeemed anew; and so does the audit log's chain.
    ///
    /// - Parameter account: The user's, as it was when its password was shown; nil where none has to be.
    /// - Returns: false where the ledger has not seen the user, or the account is another by now.
    func erase(
        _ user: User,
        showing account: AccountRecord?,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws(StorageFault) -> Bool

    /// Reads from the ledger.
    ///
    /// - Throws: `StorageFault` if the ledger cannot be read.
    func checkReadable() throws(StorageFault)

    /// Whether a user's token may spell the name in any Unicode form: the ledger knew the user before it asked for NFC.
    func acceptsAnySpelling(of user: User) throws(StorageFault) -> Bool

    /// The users of an issuer whose tokens may spell their name in any Unicode form.
    func usersOfAnySpelling(issuer: String) throws(StorageFault) -> [User]

    func add(_ key: APIKeyRecord) throws(StorageFault)

    /// All API keys, revoked ones included, oldest first.
    func apiKeys() throws(StorageFault) -> [APIKeyRecord]

    func apiKey(_ identifier: String) throws(StorageFault) -> APIKeyRecord?

    /// Ends a key; one that was ended before stays as it is.
    ///
    /// - Returns: false when there is no such key.
    func revokeAPIKey(_ identifier: String, at moment: Timestamp) throws(StorageFault) -> Bool
}

/// What became of an account token that was to be set.
public enum AppAccountTokenAnswer: Hashable, Sendable {
    /// The user has it now, or had it before.
    case set
    /// The user has another, which purchases may name already.
    case hasAnother(UUID)
    case ofAnotherUser
}

/// What the team does to a purchase.
public enum PurchaseChange: Hashable, Sendable {
    case revoke(Revocation)
    /// - by: Whose API key it is.
    case reinstate(by: String, at: Timestamp)
}
