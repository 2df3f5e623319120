import AppStore
import Foundation
import HTTPSupport
import Proofs

/// The actions on payments, by their names.
extension Store {
    package func approve(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try perform(.approve, on: identifier)
    }

    package func decline(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try perform(.decline, on: identifier)
    }

    package func resolveIssue(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try perform(.resolve, on: identifier)
    }

    package func finish(_ identifier: Int64, account: String) throws(StoreError) -> PaymentTransaction {
        try perform(.finish, on: identifier, account: account).transaction
    }

    package func transaction(_ identifier: Int64, account: String) throws(StoreError) -> PaymentTransaction {
        try read { try $0.queued(identifier, account: account).transaction }
    }

    package func isInterrupted(_ identifier: Int64) throws(StoreError) -> Bool {
        try read { try $0.queued(identifier).isInterrupted }
    }
}

/// The actions on transactions, by their names.
extension Store {
    package func requestRefund(
        of transaction: String,
        reason: ConsumptionRequestReason = .other
    ) throws(StoreError) {
        var values = TransactionAction.Parameters()
        values.requestReason = reason
        try perform(.requestRefund, values, on: transaction)
    }

    package func refund(
        _ transaction: String,
        reason: RevocationReason = .refundedForOtherReason,
        isProrated: Bool = false
    ) throws(StoreError) {
        var values = TransactionAction.Parameters()
        (values.refundReason, values.isRefundProrated) = (reason, isProrated)
        try perform(.refund, values, on: transaction)
    }

    package func declineRefund(of transaction: String) throws(StoreError) {
        try perform(.declineRefund, on: transaction)
    }

    package func reverseRefund(of transaction: String) throws(StoreError) {
        try perform(.reverseRefund, on: transaction)
    }

    /// - Returns: The number of the member's own transaction.
    package func share(_ transaction: String, with account: String) throws(StoreError) -> String {
        var values = TransactionAction.Parameters()
        values.member = account
        try perform(.share, values, on: transaction)
        return try history(of: account).last?.transactionIdentifier ?? ""
    }

    package func revokeFamilySharing(of transaction: String) throws(StoreError) {
        try perform(.revokeFamilySharing, on: transaction)
    }

    package func join(_ member: String, familyOf account: String) throws(StoreError) {
        try write { try $0.join(member, familyOf: account) }
    }

    package func leaveFamily(_ account: String) throws(StoreError) { try write { try $0.leaveFamily(account) } }

    package func family(of account: String) throws(StoreError) -> Family? { try read { try $0.family(of: account) } }

    package func setAutoRenew(_ isOn: Bool, of transaction: String) throws(StoreError) {
        try perform(isOn ? .turnAutoRenewOn : .turnAutoRenewOff, on: transaction)
    }

    /// - Parameter total: The number of seats after the change.
    package func changeSeats(of transaction: String, to total: Int) throws(StoreError) {
        var values = TransactionAction.Parameters()
        values.seats = total
        try perform(.changeSeats, values, on: transaction)
    }

    /// - Returns: The number of the member's own transaction.
    @discardableResult
    package func acceptInvitation(to transaction: String, by account: String) throws(StoreError) -> String {
        var values = TransactionAction.Parameters()
        values.member = account
        try perform(.acceptInvitation, values, on: transaction)
        return try history(of: account).last?.transactionIdentifier ?? ""
    }

    package func endSeat(_ transaction: String) throws(StoreError) {
        try perform(.revokeSeat, on: transaction)
    }

    package func forceRenewal(of transaction: String) throws(StoreError) {
        try perform(.forceRenewal, on: transaction)
    }

    package func failRenewal(of transaction: String, hasGracePeriod: Bool) throws(StoreError) {
        var values = TransactionAction.Parameters()
        values.hasGracePeriod = hasGracePeriod
        try perform(.failRenewal, values, on: transaction)
    }

    package func expire(_ transaction: String) throws(StoreError) {
        try perform(.expire, on: transaction)
    }

    package func resolveBillingIssue(of transaction: String) throws(StoreError) {
        try perform(.resolveBillingIssue, on: transaction)
    }

    package func requestPriceIncrease(
        of transaction: String,
        to milliunits: Int64,
        needsConsent: Bool
    ) throws(StoreError) {
        var values = TransactionAction.Parameters()
        (values.price, values.needsConsent) = (milliunits, needsConsent)
        try perform(.requestPriceIncrease, values, on: transaction)
    }

    package func consentToPriceIncrease(of transaction: String) throws(StoreError) {
        try perform(.consentToPriceIncrease, on: transaction)
    }

    package func declinePriceIncrease(of transaction: String) throws(StoreError) {
        try perform(.declinePriceIncrease, on: transaction)
    }

    package func delete(_ transaction: String) throws(StoreError) {
        try perform(.delete, on: transaction)
    }
}

/// Steps of the clock, at once. The due events in between happen in order, each at its own moment.
extension Store {
    /// - Parameter account: The account whose clock moves; nil for the store's.
    package func advance(_ step: TimeStep, of account: String? = nil) throws(StoreError) -> Timestamp {
        let seconds = try step.seconds(from: try time(of: account))
        try write { try $0.advance(by: seconds * 1000, of: account) }
        try catchUp()
        return try time(of: account)
    }

    package func advance(_ period: SubscriptionPeriod) throws(StoreError) -> Timestamp {
        try advance(TimeStep.period(period))
    }

    package func advance(seconds: Int64) throws(StoreError) -> Timestamp {
        try advance(TimeStep.seconds(seconds))
    }
}

/// The reads and writes of the books, each by its name.
extension Store {
    package func receipt(account: String) throws(StoreError) -> String { try read { try $0.receipt(account: account) } }

    package func signedTransaction(_ identifier: Int64) throws(StoreError) -> String {
        try read { try $0.signedTransaction(identifier) }
    }

    package func signedTransaction(of transactionIdentifier: String) throws(StoreError) -> String {
        try read { try $0.signedTransaction(of: transactionIdentifier) }
    }

    package func queuedTransaction(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try read { try $0.queued(identifier) }
    }

    package func effect(of identifier: Int64) throws(StoreError) -> PurchaseEffect? {
        try read { try $0.effect(of: identifier) }
    }

    package func restoreCompletedTransactions(account: String) throws(StoreError) {
        try write { try $0.restoreCompletedTransactions(account: account) }
    }

    package func listedTransaction(_ transactionIdentifier: String) throws(StoreError) -> ListedTransaction {
        try read { try $0.listedTransaction(transactionIdentifier) }
    }

    package func subscriptions(of account: String) throws(StoreError) -> [SubscriptionSummary] {
        try read { try $0.subscriptionSummaries(of: account) }
    }

    package func dueEvents(
        after start: Timestamp,
        until end: Timestamp,
        of account: String? = nil,
        limit: Int = .max
    ) throws(StoreError) -> [DueEvent] {
        try read { try $0.dueEvents(after: start, until: end, of: account, limit: limit) }
    }

    package func replay(_ notificationUUID: UUID) throws(StoreError) { try write { try $0.replay(notificationUUID) } }

    /// Creates a notification on demand, about that one of the two that its type is about.
    @discardableResult
    package func notify(
        _ demanded: NotificationOnDemand,
        about transaction: String,
        or account: String
    ) throws(StoreError) -> StoreNotification {
        try write {
            try $0.notify(
                demanded, transactionIdentifier: demanded.subject == .subscription ? transaction : nil,
                account: demanded.subject == .account ? account : nil)
        }
    }

    package func add(_ faults: [NotificationFault]) throws(StoreError) { try write { try $0.add(faults) } }

    package func history(of account: String) throws(StoreError) -> [Transaction] {
        try read { try $0.transactions.transactions(of: account) }
    }

    package func sale(_ transactionIdentifier: String) throws(StoreError) -> Transaction {
        try read { try $0.sale(transactionIdentifier) }
    }

    package func transactions(account: String? = nil) throws(StoreError) -> [QueuedTransaction] {
        try read { try $0.payments.transactions(account: account) }
    }

    package func notifications() throws(StoreError) -> [StoreNotification] {
        try read { try $0.notifications.notifications() }
    }

    package func faults() throws(StoreError) -> [NotificationFault] { try read { try $0.state.faults() } }

    package func teamKeys() throws(StoreError) -> [TeamKey] { try read { try $0.teamKeys() } }

    package func recentAccounts() throws(StoreError) -> [String] { try read { try $0.transactions.recentAccounts() } }

    package func clearTransactions() throws(StoreError) { try write { try $0.clearSales() } }

    package func listedTransactions(
        of account: String? = nil,
        original: String? = nil,
        product: String? = nil,
        in state: ListedState? = nil,
        before number: Int64? = nil,
        limit: Int
    ) throws(StoreError) -> [ListedTransaction] {
        try read {
            try $0.listedTransactions(
                of: account, original: original, product: product, in: state, before: number, limit: limit)
        }
    }

    package func queuedTransactions(
        of account: String? = nil,
        isUnfinished: Bool = false,
        before number: Int64? = nil,
        limit: Int
    ) throws(StoreError) -> [QueuedTransaction] {
        try read { try $0.payments.page(of: account, isUnfinished: isUnfinished, before: number, limit: limit) }
    }

    package func listedNotifications(before number: Int64? = nil, limit: Int) throws(StoreError) -> [StoreNotification]
    {
        try read { try $0.notifications.page(before: number, limit: limit) }
    }

    package func listedNotification(_ notificationUUID: UUID) throws(StoreError) -> StoreNotification {
        guard let found = try read({ try $0.notifications.notification(notificationUUID) }) else {
            throw .notificationNotFound(notificationUUID)
        }
        return found
    }
}
