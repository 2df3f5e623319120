import Foundation
import Proofs

extension Books {
    /// Adds a notification about a subscription, with its latest transaction.
    func notify(_ type: NotificationTypeV2, _ subtype: Subtype?, of subscription: CustomerSubscription) throws {
        guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else { return }
        try notify(type, subtype, of: latest, in: subscription)
    }

    /// Adds a notification about a transaction.
    ///
    /// - Parameter subscription: The transaction's subscription; nil for any other product.
    func notify(
        _ type: NotificationTypeV2,
        _ subtype: Subtype?,
        of transaction: Transaction,
        in subscription: CustomerSubscription? = nil,
        consumptionRequestReason: ConsumptionRequestReason? = nil
    ) throws {
        let data = NotificationStatement.Data(
            signedTransaction: try issuer.signedTransaction(transaction, at: now),
            signedRenewalInfo: try subscription.map { try issuer.signedRenewalInfo($0, terms, at: now) },
            status: subscription?.status, consumptionRequestReason: consumptionRequestReason)
        try notify(type, subtype, .data(data), transaction: transaction)
    }

    @discardableResult
    func notify(
        _ type: NotificationTypeV2,
        _ subtype: Subtype?,
        _ body: NotificationStatement.Body,
        transaction: Transaction? = nil
    ) throws -> StoreNotification {
        let notificationUUID = UUID(randomness: randomness)
        let fault = try nextFault()
        let notification = StoreNotification(
            notificationUUID: notificationUUID, type: type, subtype: subtype,
            transactionIdentifier: transaction?.transactionIdentifier,
            originalTransactionIdentifier: transaction?.originalTransactionIdentifier, date: now,
            signedPayload: try issuer.signedNotification(type, subtype, notificationUUID, body, at: now),
            nextAttemptDate: settings.notificationsURL == nil ? nil : DeliverySchedule.firstAttempt(at: now, fault))
        try notifications.add(notification, fault: fault)
        return notification
    }

    private func nextFault() throws -> NotificationFault? {
        let state = StateRecords(database: database)
        let faults = try state.faults()
        guard let first = faults.first else { return nil }
        try state.setFaults(Array(faults.dropFirst()))
        return first
    }
}
