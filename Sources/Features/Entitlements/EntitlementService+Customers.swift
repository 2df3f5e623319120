import Foundation
import Ledger
import Proofs

/// The use cases that show one customer with the recorded facts.
extension EntitlementService {
    /// A user with the account token; nil for an unknown user.
    package func customer(_ user: User) async throws -> KnownUser? {
        try await ledger.read { try $0.customer(user) }
    }

    /// The customers of a product, the latest redemption first. It reads a limited number of transactions, so a page may be short
    /// before the last one.
    ///
    /// - Parameter position: The end of the previous page; nil for the first page.
    package func customers(
        ofProduct product: String,
        after position: ProductCustomer.Position?,
        limit: Int
    ) async throws -> ProductCustomer.Page {
        try await ledger.read { try $0.customers(ofProduct: product, after: position, limit: limit) }
    }

    /// The purchases and grants of a user; nil for an unknown user.
    package func history(of user: User) async throws -> CustomerHistory? {
        try await ledger.read { try $0.history(of: user, accepting: accepted.origins(for: user), seeing: limit) }
    }

    /// The owners of purchases by their original transactions. A purchase without an owner is absent.
    package func owners(ofPurchases originals: Set<TransactionKey>) async throws -> [TransactionKey: User] {
        try await ledger.read { try $0.owners(ofPurchases: originals) }
    }

    /// True if a token is an account token of a user.
    package func isAppAccountToken(_ token: UUID, of user: User) async throws -> Bool {
        try await ledger.read { try $0.owner(ofAppAccountToken: token, among: [user]) == .given }
    }

    /// True if a token is an account token of a user who is none of the given ones.
    package func isAppAccountToken(_ token: UUID, ofOthersThan users: [User]) async throws -> Bool {
        try await ledger.read { try $0.owner(ofAppAccountToken: token, among: users) == .other }
    }

    /// The last statements about the renewals of a user's subscriptions.
    package func renewals(of user: User) async throws -> [SubscribedPurchase] {
        try await ledger.read { try $0.renewals(of: user) }
    }

    /// A user's transactions of some identifiers, in no order.
    package func transactions(of user: User, identifiedBy identifiers: [String]) async throws -> [RedeemedTransaction] {
        let limit = limit
        return try await ledger.read { try $0.transactions(of: user, identifiedBy: identifiers) }
            .filter { limit?.includes(app: $0.app) ?? true }
    }

    /// A user's transactions of an identifier, with the facts about their proofs.
    package func recordedTransactions(_ identifier: String, of user: User) async throws -> [RecordedTransaction] {
        try await ledger.read { try $0.recordedTransactions(identifier, of: user) }
    }

    /// A notification about a purchase of a user; nil for another notification.
    package func recordedNotification(
        _ identifier: String,
        from origin: Origin,
        of user: User
    ) async throws -> RecordedNotification? {
        try await ledger.read { try $0.recordedNotification(identifier, from: origin, of: user) }
    }

    /// A record of a user's audit log, with its place in the hash chain; nil if there is none of that number.
    package func recordedEvent(_ number: Int64, of user: User) async throws -> RecordedEvent? {
        try await ledger.read { try $0.recordedEvent(number, of: user) }
    }
}

/// A purchase with a stated renewal.
package struct SubscribedPurchase: Hashable, Sendable {
    package let originalTransactionIdentifier: String
    package let origin: Origin
    /// The number of the app.
    package let app: Int64
    /// The last statement about the renewal.
    package let renewal: StatedRenewal
}

/// A redeemed transaction and its app.
package struct BoughtTransaction: Hashable, Sendable {
    /// The number of the app in the ledger.
    package let app: Int64
    package let transaction: RedeemedTransaction

    package init(app: Int64, transaction: RedeemedTransaction) {
        self.app = app
        self.transaction = transaction
    }
}

/// The use cases of the App Store's notifications.
extension EntitlementService {
    /// A verified notification that is not applied yet.
    package struct VerifiedNotification: Sendable {
        fileprivate let record: NotificationRecord
        fileprivate let stated: Claim?

        package var request: ClaimRequest { .notify(record, stating: stated) }
    }

    /// Stores and applies a notification of the App Store (App Store Server Notifications V2).
    ///
    /// A duplicate changes nothing. Of several statements about one transaction, the one signed last wins, in any order of
    /// arrival.
    package func receive(notification proof: [UInt8]) async throws -> NotificationOutcome {
        try await receive(try notification(in: proof))
    }

    /// Verifies a notification. This is the first half, which uses the processor, not the ledger.
    package func notification(in proof: [UInt8]) throws(RedemptionError) -> VerifiedNotification {
        let verified = try verify(proof)
        guard case .notification(let notification) = verified.content else { throw .noNotification }
        return VerifiedNotification(
            record: NotificationRecord(
                app: try bundleIdentifier(of: verified), origin: verified.origin,
                notificationUUID: notification.notificationUUID,
                type: notification.notificationType.rawValue, subtype: notification.subtype?.rawValue,
                signedAt: notification.signedDate, proofDigest: verified.digest,
                content: notification.contentWithoutProofs),
            stated: try verified.notifiedPurchase.map { purchase throws(RedemptionError) in
                try claims(verified, proof).claim(purchase, renewal: verified.renewal)
            })
    }

    /// Stores and applies a verified notification. This is the second half, in one transaction of the ledger.
    package func receive(_ notification: VerifiedNotification) async throws -> NotificationOutcome {
        try await outcome(of: notification.request)
    }

    /// The received notifications of all apps, newest first.
    ///
    /// - Parameter position: The position after which the page begins; nil for the first page.
    /// - Returns: At most `limit` notifications, and the position of the next page; nil for the last page. A page may have
    ///   fewer notifications, even none, although there is a next one.
    package func notifications(
        _ filter: ReceivedNotificationFilter,
        before position: ReceivedNotification.Position?,
        limit: Int
    ) async throws -> (shown: [ReceivedNotification], next: ReceivedNotification.Position?) {
        try await ledger.read { try $0.notifications(filter, before: position, limit: limit) }
    }

    /// The notification of an identifier; nil if the origin has none.
    package func notification(_ identifier: String, of origin: Origin) async throws -> ReceivedNotification? {
        try await ledger.read { try $0.notification(identifier, of: origin) }
    }

    func outcome(of request: ClaimRequest) async throws -> NotificationOutcome {
        guard case .recorded(let outcome) = try await claims.answer(request) else { throw RedemptionError.userUnknown }
        return outcome
    }
}
