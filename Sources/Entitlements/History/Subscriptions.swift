import Ledger
import Proofs
import Vocabulary

/// A purchase with a stated renewal.
package struct SubscribedPurchase: Hashable, Sendable {
    package let originalTransactionIdentifier: String
    package let origin: Origin
    /// The number of the app.
    package let app: Int64
    /// The last statement about the renewal.
    package let renewal: StatedRenewal

    package var purchase: PurchaseOfUser {
        PurchaseOfUser(app: app, origin: origin, original: ByteKey(originalTransactionIdentifier))
    }
}

extension SubscribedPurchase {
    /// The columns of `subscription`, for the SQL of a statement.
    static let columns = (["original_transaction_id", "origin", "app"] + StatedRenewal.columns)
        .map { "subscription." + $0 }.joined(separator: ", ")

    /// The purchase in the next columns, which are `columns`.
    init(_ row: inout ResultRow) throws {
        self.init(
            originalTransactionIdentifier: try row.next(), origin: try row.next(), app: try row.next(),
            renewal: try StatedRenewal(&row))
    }
}

package struct PurchaseOfUser: Hashable {
    /// The number of the app.
    let app: Int64
    let origin: Origin
    /// The original transaction.
    let original: ByteKey

    package init(app: Int64, origin: Origin, original: ByteKey) {
        (self.app, self.origin, self.original) = (app, origin, original)
    }
}

extension RedeemedTransaction {
    package var purchase: PurchaseOfUser {
        PurchaseOfUser(app: appNumber, origin: origin, original: ByteKey(originalTransactionIdentifier))
    }
}

/// The parts of subscriptions: the purchases of one user that go on as others (`EntitlementFacts.subscription`).
package struct SubscriptionParts {
    /// A later link of the chain to the purchase that stands for the subscription; absent for that purchase.
    private var links: [PurchaseOfUser: PurchaseOfUser] = [:]

    // Not of any sequence: a generic iterator allocates memory for each element.
    package init(of transactions: [RedeemedTransaction]) {
        for transaction in transactions {
            guard let previous = transaction.facts.text(.previousOriginalTransactionId) else { continue }
            let former = self[
                PurchaseOfUser(app: transaction.appNumber, origin: transaction.origin, original: ByteKey(previous))]
            let present = self[transaction.purchase]
            if former != present { links[present] = former }
        }
    }

    /// The purchase that stands for the subscription of which a purchase is a part.
    package subscript(purchase: PurchaseOfUser) -> PurchaseOfUser {
        var purchase = purchase
        while let next = links[purchase] { purchase = next }
        return purchase
    }
}

extension [RedeemedTransaction] {
    /// The transactions of each subscription, with all its parts, and of each other purchase.
    package var bySubscription: [PurchaseOfUser: [RedeemedTransaction]] {
        let parts = SubscriptionParts(of: self)
        return Dictionary(grouping: self) { parts[$0.purchase] }
    }
}

extension [RedeemedTransaction] {
    /// The transaction that comes last; nil without one.
    var latest: RedeemedTransaction? { self.max { $0.isEarlier(than: $1) } }
}

extension [SubscribedPurchase] {
    /// The last statement about the renewal of the subscription of some transactions, which their last one has.
    func renewal(of transactions: [RedeemedTransaction]) -> StatedRenewal? {
        guard let purchase = transactions.latest?.purchase else { return nil }
        return first { $0.purchase == purchase }?.renewal
    }
}

extension EntitlementService {
    /// The subscriptions of a user, in the order of their first purchases.
    package func subscriptions(of user: User) async throws -> [PurchaseStatus] {
        try await ledger.read(mayLag: true) { try $0.subscriptions(of: user, from: try view(of: user, $0)) }
    }
}

extension LedgerTransaction {
    package func renewals(of user: User) throws -> [SubscribedPurchase] {
        guard let user = try users.known(user) else { return [] }
        return try ReadingRecords(database: database).renewals(of: user)
    }

    /// The transactions of the other parts of a subscription that has moved to the purchase of some transactions, with only the facts on
    /// which a state depends. Empty if it has not moved.
    package func otherParts(of transactions: [RedeemedTransaction], of user: User) throws -> [RedeemedTransaction] {
        guard transactions.contains(where: { $0.facts[.previousOriginalTransactionId] != nil }),
            let purchase = transactions.first?.purchase, let number = try users.known(user)
        else { return [] }
        let subscriptions = try ReadingRecords(database: database).subscribedTransactions(of: number).bySubscription
        let parts = subscriptions.values.first { $0.contains { $0.purchase == purchase } } ?? []
        return parts.filter { $0.purchase != purchase }
    }

    /// The subscriptions of a user, in the order of their first purchases. One that has moved is one, with its present original transaction.
    package func subscriptions(of user: User, from view: Viewpoint) throws -> [PurchaseStatus] {
        guard let number = try users.known(user) else { return [] }
        let origins = view.accepted.origins(for: user)
        let records = ReadingRecords(database: database)
        let renewals = try records.renewals(of: number)
        let transactions = try records.subscribedTransactions(of: number).filter { transaction in
            origins.contains(transaction.origin) && view.includes(app: transaction.app)
                && (transaction.facts[.type] != nil
                    || view.type(transaction.productIdentifier) == .autoRenewableSubscription)
        }
        return transactions.bySubscription.values.compactMap { transactions in
            PurchaseStatus(
                transactions, .autoRenewableSubscription, renewals.renewal(of: transactions), at: view.moment)
        }.sorted { ($0.since, $0.originalTransactionIdentifier) < ($1.since, $1.originalTransactionIdentifier) }
    }
}
