import Foundation
import Proofs

/// The part of the ledger that a decision about claims needs.
///
/// The facts about a claim are complete. They have every transaction of its possible purchases, every statement parked for
/// them, and the owner of every account token in the claim or a parked statement.
package struct EntitlementFacts: Sendable {
    /// A purchase of a user with all its transactions, by its original transaction.
    package struct Purchase: Hashable, Sendable {
        package var owner: Int64
        /// The time of the last transfer.
        package var transferredAt: Timestamp?
        /// The transaction whose account token determines the owner.
        package var naming: Naming?
        /// The last statement about the renewal; nil also if it was not read, because no claim states a renewal.
        package var renewal: StatedRenewal?
        package var transactions: [TransactionKey] = []
    }

    package struct Transaction: Hashable, Sendable {
        package let originalKey: TransactionKey
        /// The number among the owner's transactions; nil before the transaction is stored.
        package private(set) var sequence: Int64?
        package let productIdentifier: String
        /// The base plan from the ledger; nil for none, and if the facts are known.
        private(set) var recordedPlan: String?
        package let purchaseDate: Timestamp
        package let addsToBalance: Bool
        package var status: TransactionStatus
        /// The statements under each identifier of the purchase event, from which the status follows; nil for one identifier.
        package var statements: EventStatements?
        package var grace: GracePeriod?
        /// The facts of a claimed transaction; nil for other transactions.
        package var stated: TransactionFacts?
        /// The terms from the ledger; nil if the facts are known.
        package private(set) var terms: PurchasePeriod.Terms?
        /// The purchase event from the ledger; nil for none, and if the facts are known.
        private(set) var recordedEvent: String?
        /// The fixed period of the purchase; nil for another benefit.
        package var fixed: FixedPeriod?
        /// The end of the fixed period by all purchases of its owner for the item; nil if it is not known yet.
        package var extendedUntil: Timestamp?

        /// The end of the paid time; nil for a purchase without an end.
        package var expiresAt: Timestamp? { extendedUntil ?? status.expiresAt }

        /// The App Store's identifier of the purchase event, such as one renewal (`webOrderLineItemId`).
        package var event: String? { stated?.text(.webOrderLineItemId) ?? recordedEvent }

        /// The purchase as which the subscription was sold before (`previousOriginalTransactionId`); nil if it was not.
        var previous: TransactionKey? {
            (stated?.text(.previousOriginalTransactionId) ?? terms?.previous).map {
                TransactionKey(app: originalKey.app, origin: originalKey.origin, identifier: $0)
            }
        }

        /// The product with its base plan.
        var plan: SubscribedPlan {
            SubscribedPlan(
                productIdentifier, basePlan: stated?.text(.basePlanId) ?? recordedPlan,
                isBought: stated?.isBought ?? false)
        }

        /// True if the transaction is not the only one of its period.
        var isAdditional: Bool {
            stated.map { $0[.additionalTransactionReason] != nil } ?? terms?.isAdditional ?? false
        }
    }

    /// A statement about a transaction that nobody has redeemed.
    package struct ParkedStatement: Hashable, Sendable {
        package let status: TransactionStatus
        package let claim: Claim
    }

    /// The purchases by the original transaction.
    package private(set) var purchases: [TransactionKey: Purchase] = [:]
    package private(set) var transactions: [TransactionKey: Transaction] = [:]
    package private(set) var parked: [TransactionKey: ParkedStatement] = [:]
    private var parkedByOriginal: [TransactionKey: Set<TransactionKey>] = [:]
    private var transactionsByEvent: [PurchaseEvent: TransactionKey] = [:]
    /// The purchases as which subscriptions were sold right before or after a purchase.
    private var moves: [TransactionKey: Set<TransactionKey>] = [:]
    /// The original transactions of the purchases that the team has revoked.
    package var revokedByTeam: Set<TransactionKey> = []
    /// The states of purchases with an end in the histories of their owners.
    package var recordedStates: [TransactionKey: HistoryState] = [:]
    package var tokenOwners: [UUID: Int64] = [:]
    /// The times at which owners were erased. Complete for the owners of presented purchases, and for users of tokens who own none of
    /// the purchases.
    package var erasedOwners: [Int64: Timestamp] = [:]
    /// The customers for whom an import expects purchases that nobody owns, by the original transaction.
    package var expectedOwners: [TransactionKey: Int64] = [:]
    /// The origins that are valid only for some users.
    package var acceptedOriginsByUser: [Int64: Set<Origin>] = [:]
    // Each is made when a decision first needs it.
    private var summaries: [TransactionKey: PurchaseSummary] = [:]
    private var repeatedStatuses: [RepeatedStatus.Key: RepeatedStatus] = [:]
    private var parkedPurchases: [TransactionKey: ParkedPurchase] = [:]
    private var periods: [TransactionKey: PurchasePeriods] = [:]

    package init() {}

    package mutating func set(_ purchase: Purchase, for original: TransactionKey) {
        var purchase = purchase
        purchase.transactions = purchases[original]?.transactions ?? []
        purchases[original] = purchase
    }

    /// - Precondition: The purchase is set.
    package mutating func set(_ transaction: Transaction, for key: TransactionKey) {
        let isNew = transactions.updateValue(transaction, forKey: key) == nil
        if isNew { purchases[transaction.originalKey]?.transactions.append(key) }
        addEvents(of: transaction, key)
        if let previous = transaction.previous { join(transaction.originalKey, to: previous) }
        periods[transaction.originalKey]?.set(transaction, for: key, isNew: isNew)
        summaries[transaction.originalKey] = nil
        guard !repeatedStatuses.isEmpty else { return }
        repeatedStatuses[RepeatedStatus.Key(transaction.originalKey, transaction.productIdentifier)]?.add(
            transaction.status)
    }

    package mutating func set(_ stated: TransactionFacts, for key: TransactionKey) {
        transactions[key]?.stated = stated
        guard let transaction = transactions[key] else { return }
        addEvents(of: transaction, key)
        if let previous = transaction.previous { join(transaction.originalKey, to: previous) }
    }

    private mutating func addEvents(of transaction: Transaction, _ key: TransactionKey) {
        for event in PurchaseEvent.events(of: transaction) {
            transactionsByEvent[event] = transactionsByEvent[event] ?? key
        }
    }

    /// A claim under the identifier of the transaction that stands for its purchase event: of the one that was redeemed first.
    ///
    /// The App Store sometimes states one period of a subscription under two identifiers. A replaced charge keeps the end that is known.
    func standing(for stated: Claim) -> Claim {
        let claim = stated.keepsEnd ? keepingEnd(of: stated) : stated
        guard transactions[claim.key] == nil else { return claim }
        // The closure of a lazy sequence would hold a copy of all facts.
        for event in PurchaseEvent.events(of: claim) {
            if let known = transactionsByEvent[event] {
                return claim.with(transactionIdentifier: known.identifier)
            }
        }
        return claim
    }

    private func keepingEnd(of claim: Claim) -> Claim {
        if let known = transactions[claim.key] {
            return claim.ending(at: known.status.expiresAt, known.stated?[.expiresDate])
        }
        guard let known = parked[claim.key] else { return claim }
        return claim.ending(at: known.status.expiresAt, known.claim.facts?[.expiresDate])
    }

    package mutating func set(_ renewal: StatedRenewal, for original: TransactionKey) {
        purchases[original]?.renewal = renewal
    }

    mutating func setParked(_ statement: ParkedStatement, for key: TransactionKey) {
        parked[key] = statement
        let original = statement.claim.originalKey
        parkedByOriginal[original, default: []].insert(key)
        parkedPurchases[original] = nil
        join(statement.claim)
    }

    mutating func removeParked(_ key: TransactionKey) {
        guard let original = parked.removeValue(forKey: key)?.claim.originalKey else { return }
        parkedByOriginal[original]?.remove(key)
        parkedPurchases[original] = nil
    }

    /// The original transaction of a claim's purchase; nil if nobody owns the purchase.
    ///
    /// Proofs of two formats may name different original transactions. A redeemed transaction keeps the one of its redemption.
    func ownedOriginal(of claim: Claim) -> TransactionKey? {
        if let transaction = transactions[claim.key] { return transaction.originalKey }
        return purchases[claim.originalKey] == nil ? nil : claim.originalKey
    }

    /// The owned purchase that decides about a claim: its own, that of another line of its chain, or another part of its subscription.
    /// Nil if nobody owns any.
    func decidingOriginal(of claim: Claim) -> TransactionKey? {
        ownedOriginal(of: claim) ?? claim.chain.flatMap { purchases[$0] == nil ? nil : $0 } ?? ownedPart(of: claim)
    }

    /// An owned part of the subscription of a claim to a purchase that nobody owns, and of several the one that it states; nil if nobody
    /// owns any.
    func ownedPart(of claim: Claim) -> TransactionKey? {
        if let previous = claim.previous, purchases[previous] != nil { return previous }
        guard hasMoved(claim.originalKey) else { return nil }
        return subscription(of: claim.originalKey).first { purchases[$0] != nil }
    }

    /// True if the transaction of a claim is known with another product. Then the claim is about another purchase.
    func hasOtherProduct(than claim: Claim) -> Bool {
        let known = transactions[claim.key]?.productIdentifier ?? parked[claim.key]?.claim.productIdentifier
        return known.map { !$0.hasSameBytes(as: claim.productIdentifier) } ?? false
    }

    /// The redeemed transactions of a purchase.
    package func transactions(of original: TransactionKey) -> [(key: TransactionKey, transaction: Transaction)] {
        (purchases[original]?.transactions ?? []).compactMap { key in transactions[key].map { (key, $0) } }
    }

    /// The claims parked for other transactions of a claim's purchase.
    mutating func parkedSiblings(of claim: Claim) -> ParkedSiblings {
        parkedSiblings(of: claim.key, in: claim.originalKey)
    }

    /// The claims parked for transactions of a purchase other than one.
    mutating func parkedSiblings(of key: TransactionKey, in original: TransactionKey) -> ParkedSiblings {
        guard let keys = parkedByOriginal[original], !keys.isEmpty else {
            return ParkedSiblings(key: key, purchase: nil)
        }
        if let known = parkedPurchases[original] { return ParkedSiblings(key: key, purchase: known) }
        var purchase = ParkedPurchase()
        for key in keys.sorted() {
            guard let claim = parked[key]?.claim else { continue }
            if claim.isKnown { purchase.claims.append(claim) }
            guard let owner = namedOwner(by: claim) else { continue }
            purchase.namings.append((key, owner))
            purchase.namings.sort { $1.owner.naming < $0.owner.naming }
            purchase.namings.removeLast(max(0, purchase.namings.count - 2))
        }
        parkedPurchases[original] = purchase
        return ParkedSiblings(key: key, purchase: purchase)
    }

    mutating func summary(of original: TransactionKey) -> PurchaseSummary {
        if let known = summaries[original] { return known }
        let summary = PurchaseSummary(transactions(of: original).lazy.map(\.transaction))
        summaries[original] = summary
        return summary
    }

    /// Returns what a function reads from the periods of a purchase.
    mutating func reading<Result>(periodsOf original: TransactionKey, _ read: (PurchasePeriods) -> Result) -> Result {
        if let known = periods[original] { return read(known) }
        var made = PurchasePeriods()
        for (key, transaction) in transactions(of: original) { made.set(transaction, for: key, isNew: true) }
        periods[original] = made
        return read(made)
    }

    /// The last statement about the transactions that repeat a claim's purchase; nil if there is none.
    mutating func repeatedStatus(of claim: Claim) -> RepeatedStatus? {
        let key = RepeatedStatus.Key(claim.originalKey, claim.productIdentifier)
        if let known = repeatedStatuses[key] { return known }
        var status: RepeatedStatus?
        for (_, transaction) in transactions(ofPurchaseRepeatedBy: claim) {
            if status == nil {
                status = RepeatedStatus(last: transaction.status)
            } else {
                status?.add(transaction.status)
            }
        }
        repeatedStatuses[key] = status
        return status
    }

    /// Notes that no transaction that repeats a claim's purchase has an earlier statement than this one.
    mutating func setRepeated(_ status: TransactionStatus, of claim: Claim) {
        repeatedStatuses[RepeatedStatus.Key(claim.originalKey, claim.productIdentifier)]?.reach(status)
    }

    /// Forgets what follows from the owners of account tokens.
    mutating func tokensHaveMoved() {
        parkedPurchases = [:]
    }
}

extension EntitlementFacts.Transaction {
    /// The transaction of a claim that is redeemed for the first time.
    package init(_ claim: Claim, _ status: TransactionStatus) {
        self.init(
            originalKey: claim.originalKey, productIdentifier: claim.productIdentifier,
            purchaseDate: claim.purchaseDate, addsToBalance: claim.credit != nil, status: status, stated: claim.facts,
            fixed: claim.period.map { FixedPeriod($0, of: claim.item) })
    }
}

/// The rule of a subscription that goes on under another original transaction: after a migration (App Store Server Notifications 2.16,
/// `previousOriginalTransactionId`), or "when a customer switched between a standalone auto-renewable subscription and a subscription
/// bundle (in either direction)" (StoreKit, `Transaction.previousOriginalTransactionID`). Its purchases are parts of one subscription.
extension EntitlementFacts {
    /// Notes the move that a claim states.
    mutating func join(_ claim: Claim) {
        if let previous = claim.previous { join(claim.originalKey, to: previous) }
    }

    private mutating func join(_ original: TransactionKey, to previous: TransactionKey) {
        guard original != previous else { return }
        moves[original, default: []].insert(previous)
        moves[previous, default: []].insert(original)
    }

    /// The purchases that have moved, or have come from a move, as far as they are known.
    var movedOriginals: Set<TransactionKey> { Set(moves.keys) }

    /// True if a purchase is not the only part of its subscription, as far as it is known. Most purchases are alone.
    func hasMoved(_ original: TransactionKey) -> Bool { moves[original] != nil }

    /// The purchases of which a subscription consists, in order. One that has not moved is alone.
    func subscription(of original: TransactionKey) -> [TransactionKey] {
        guard hasMoved(original) else { return [original] }
        var (parts, next): (Set<TransactionKey>, [TransactionKey]) = ([original], [original])
        while let part = next.popLast() {
            next += (moves[part] ?? []).filter { parts.insert($0).inserted }
        }
        return parts.sorted()
    }

    /// The purchases as which redeemed transactions of a purchase say that the subscription was sold before.
    func previous(of original: TransactionKey) -> Set<TransactionKey> {
        guard hasMoved(original) else { return [] }
        return Set(transactions(of: original).compactMap(\.transaction.previous)).subtracting([original])
    }

    /// True if a subscription goes on as another purchase of the same owner. Then the end of this one is no end for the customer.
    func goesOn(after original: TransactionKey) -> Bool {
        guard hasMoved(original), let owner = purchases[original]?.owner else { return false }
        func periods(of original: TransactionKey) -> [(from: Timestamp, until: Timestamp)] {
            transactions(of: original).compactMap { _, transaction in
                guard !transaction.status.isRevoked, let end = transaction.expiresAt else { return nil }
                return (transaction.purchaseDate, max(end, transaction.grace?.endsAt ?? end))
            }
        }
        guard let last = periods(of: original).max(by: { $0.from < $1.from }) else { return false }
        let end = last.until.adding(seconds: PurchaseStatus.maximumGapSeconds)
        return subscription(of: original).contains { part in
            part != original && purchases[part]?.owner == owner
                && periods(of: part).contains { $0.from >= last.from && $0.from <= end && $0.until > last.from }
        }
    }
}

/// The rules of account tokens.
extension EntitlementFacts {
    /// The user of an account token, and the transaction with the token.
    struct NamedOwner: Hashable, Sendable {
        let user: Int64
        let naming: Naming

        /// The one of the last naming, and the first one of two alike.
        fileprivate static func last(_ one: NamedOwner?, _ other: NamedOwner?) -> NamedOwner? {
            guard let one, let other else { return one ?? other }
            return one.naming < other.naming ? other : one
        }
    }

    /// The owner by the account tokens of a claim and of the claims parked with it.
    ///
    /// A receipt has no account token. A parked statement about its transaction may have one.
    ///
    /// - Parameter original: The original transaction of the purchase, if somebody owns it.
    /// - Returns: Nil if no user of this service has the token. Nil also if the token of a later purchase has determined the
    ///   owner, or if the purchase has added to another user's balance, which may be spent.
    mutating func namedOwner(by claim: Claim, _ siblings: ParkedSiblings, of original: TransactionKey?) -> NamedOwner? {
        let said = claim.appAccountToken == nil ? parked[claim.key]?.claim : nil
        let last = NamedOwner.last(
            .last(namedOwner(by: claim), said.flatMap { namedOwner(by: $0) }), siblings.lastNaming)
        guard let last, let original, let purchase = purchases[original] else { return last }
        if let naming = purchase.naming, last.naming < naming { return nil }
        return last.user != purchase.owner && summary(of: original).addsToBalance ? nil : last
    }

    func namedOwner(by claim: Claim) -> NamedOwner? {
        guard let token = claim.appAccountToken, !token.isPlaceholder, let user = tokenOwners[token] else { return nil }
        return NamedOwner(user: user, naming: Naming(claim))
    }
}

/// A transaction whose account token may determine the owner of its purchase.
///
/// The transaction with the latest purchase date decides. Of several statements about it, the one signed last decides.
package struct Naming: Hashable, Sendable {
    package let purchaseDate: Timestamp
    package let transactionIdentifier: String
    package let statedAt: Timestamp
}

extension Naming {
    package init(_ claim: Claim) {
        self.init(
            purchaseDate: claim.purchaseDate, transactionIdentifier: claim.transactionIdentifier,
            statedAt: claim.signedAt)
    }
}

extension Naming: Comparable {
    package static func < (left: Naming, right: Naming) -> Bool {
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        let (first, second) = (ByteKey(left.transactionIdentifier), ByteKey(right.transactionIdentifier))
        return first == second ? left.statedAt < right.statedAt : first < second
    }
}

/// The facts about all transactions of a purchase that decisions need.
///
/// A receipt has thousands of transactions of one subscription. Each would otherwise read all the others.
struct PurchaseSummary: Hashable, Sendable {
    var addsToBalance = false
    /// True if a part without an end is not revoked.
    var isEndless = false
    /// The last end of the parts that are not revoked. The next period ends one earlier, such as a longer one that was upgraded.
    var end: Timestamp?

    init(_ transactions: some Sequence<EntitlementFacts.Transaction>) {
        var (following, group): (Timestamp?, (date: Timestamp, isPeriod: Bool)?)
        for transaction in transactions.sorted(by: { $0.purchaseDate > $1.purchaseDate }) {
            addsToBalance = addsToBalance || transaction.addsToBalance
            let (isRevoked, date) = (transaction.status.isRevoked, transaction.purchaseDate)
            guard let expiresAt = transaction.expiresAt else {
                isEndless = isEndless || !isRevoked
                continue
            }
            if let last = group, last.date > date {
                following = last.isPeriod ? last.date : following
                group = nil
            }
            if !isRevoked {
                let ends = max(expiresAt, transaction.grace?.endsAt ?? expiresAt)
                end = [end, min(ends, following ?? ends)].compactMap(\.self).max()
            }
            let isPeriod =
                !transaction.isAdditional
                && !PurchasePeriod.isVoid(from: date, revokedAt: transaction.status.revocationDate)
            group = (date, isPeriod || group?.isPeriod ?? false)
        }
    }
}

/// The periods of a subscription in the order of their beginnings.
struct PurchasePeriods: Sendable {
    private var order: [(beginsAt: Timestamp, key: TransactionKey)] = []
    private(set) var revoked: Set<TransactionKey> = []

    mutating func set(_ transaction: EntitlementFacts.Transaction, for key: TransactionKey, isNew: Bool) {
        guard transaction.status.expiresAt != nil else { return }
        if transaction.status.isRevoked { revoked.insert(key) } else { revoked.remove(key) }
        guard isNew else { return }
        order.insert((transaction.purchaseDate, key), at: index { $0 <= transaction.purchaseDate })
    }

    /// The period that begins last.
    var last: TransactionKey? { order.last?.key }

    /// The last period that begins before a moment.
    func last(before moment: Timestamp) -> TransactionKey? {
        let index = index { $0 < moment }
        return index > 0 ? order[index - 1].key : nil
    }

    /// The first period that begins after a moment.
    func first(after moment: Timestamp) -> TransactionKey? {
        let index = index { $0 <= moment }
        return index < order.count ? order[index].key : nil
    }

    /// The periods that begin in an interval; none if its end is before its start.
    func keys(from start: Timestamp, through end: Timestamp) -> [TransactionKey] {
        start > end ? [] : order[index { $0 < start }..<index { $0 <= end }].map(\.key)
    }

    /// The number of periods whose beginnings fulfil a condition that only the first ones fulfil.
    private func index(_ isBefore: (Timestamp) -> Bool) -> Int {
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(order[middle].beginsAt) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The last statement about the transactions that repeat one purchase.
struct RepeatedStatus: Hashable, Sendable {
    private(set) var last: TransactionStatus
    /// True if no transaction has an earlier statement.
    private(set) var isOfAll = true

    mutating func add(_ status: TransactionStatus) {
        if status.isLater(than: last) {
            last = status
            isOfAll = false
        } else if last.isLater(than: status) {
            isOfAll = false
        }
    }

    /// True if some transaction may have an earlier statement than this one.
    func isBehind(_ status: TransactionStatus) -> Bool { !isOfAll || status.isLater(than: last) }

    /// Notes that no transaction has an earlier statement than this one.
    mutating func reach(_ status: TransactionStatus) {
        if !last.isLater(than: status) { self = RepeatedStatus(last: status) }
    }

    /// The purchase that is repeated: the transactions with the same original and product.
    struct Key: Hashable, Sendable {
        private let original: TransactionKey
        private let product: ByteKey

        init(_ original: TransactionKey, _ product: String) {
            self.original = original
            self.product = ByteKey(product)
        }
    }
}

/// The claims parked for other transactions of a claim's purchase, as far as they are known, in the order of their
/// identifiers.
struct ParkedSiblings: Sendable {
    /// The claim whose siblings they are.
    let key: TransactionKey
    let purchase: EntitlementFacts.ParkedPurchase?

    /// The last naming by a sibling; nil if no sibling has the account token of a user.
    var lastNaming: EntitlementFacts.NamedOwner? { purchase?.namings.first { $0.key != key }?.owner }

    var claims: some Sequence<Claim> { (purchase?.claims ?? []).lazy.filter { [key] in $0.key != key } }
}

extension EntitlementFacts {
    /// The statements parked for an original transaction.
    struct ParkedPurchase: Sendable {
        /// The claims with a benefit, in the order of their identifiers.
        var claims: [Claim] = []
        /// The last two namings by transactions, the last one first. A claim ignores its own.
        var namings: [(key: TransactionKey, owner: NamedOwner)] = []
    }
}
