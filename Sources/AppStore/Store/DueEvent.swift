import Proofs

/// A change of a subscription that became due.
public struct DueEvent: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        case renewed
        case renewalFailed
        case gracePeriodEnded
        case expired

        /// - Returns: Nil for a notification of any other change.
        init?(_ type: NotificationTypeV2) {
            switch type {
            case .didRenew: self = .renewed
            case .didFailToRenew: self = .renewalFailed
            case .gracePeriodExpired: self = .gracePeriodEnded
            case .expired: self = .expired
            default: return nil
            }
        }
    }

    public let kind: Kind
    /// The date, by the store's clock.
    public let date: Timestamp
    public let account: String
    public let productIdentifier: String
    public let transactionIdentifier: String
}

extension Store {
    /// The due events after one moment until another, the oldest first.
    ///
    /// - Parameter limit: The maximum number of events.
    public func dueEvents(
        after start: Timestamp,
        until end: Timestamp,
        limit: Int = .max
    ) throws(StoreError) -> [DueEvent] {
        try read { books in
            try books.notifications.notifications(
                NotificationTypeV2.allCases.filter { DueEvent.Kind($0) != nil },
                from: Timestamp(millisecondsSince1970: start.millisecondsSince1970 + 1),
                until: Timestamp(millisecondsSince1970: end.millisecondsSince1970 + 1), limit: limit
            ).compactMap { notification in
                guard let kind = DueEvent.Kind(notification.type),
                    let sold = try notification.transactionIdentifier.flatMap(books.transactions.transaction)
                else { return nil }
                return DueEvent(
                    kind: kind, date: notification.date, account: sold.account,
                    productIdentifier: sold.productIdentifier, transactionIdentifier: sold.transactionIdentifier)
            }
        }
    }
}
