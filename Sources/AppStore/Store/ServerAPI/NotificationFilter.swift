import Proofs

/// The filter of a request for the notification history.
package struct NotificationFilter {
    private let type: NotificationTypeV2?
    private let subtype: Subtype?
    private let onlyFailures: Bool

    /// - Throws: `ServerAPIError` for filters that are unknown or exclude each other.
    package init(_ request: NotificationHistoryRequest) throws(ServerAPIError) {
        guard request.transactionId == nil || request.notificationType == nil else { throw .multipleFiltersSupplied }
        type = request.notificationType.flatMap(NotificationTypeV2.init)
        subtype = request.notificationSubtype.flatMap(Subtype.init)
        onlyFailures = request.onlyFailures ?? false
        guard (type == nil) == (request.notificationType == nil),
            (subtype == nil) == (request.notificationSubtype == nil)
        else { throw .invalidNotificationType }
        if let subtype {
            guard let type, subtype.types.contains(type) else { throw .invalidNotificationType }
        }
    }

    /// - Parameter originals: The original transactions of the requested customer; nil for all customers.
    package func includes(_ notification: StoreNotification, amongOriginals originals: Set<String>?) -> Bool {
        if let type, notification.type != type { return false }
        if let subtype, notification.subtype != subtype { return false }
        if let originals, !(notification.originalTransactionIdentifier.map(originals.contains) ?? false) {
            return false
        }
        return !onlyFailures
            || (!notification.sendAttempts.isEmpty && !notification.sendAttempts.contains { $0.result == .success })
    }
}
