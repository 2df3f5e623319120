import Proofs

/// A change of a subscription that became due.
package struct DueEvent: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
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

    package let kind: Kind
    /// The date, by the store's clock.
    package let date: Timestamp
    package let account: String
    package let productIdentifier: String
    package let transactionIdentifier: String
}

extension Store {
    /// The due events after one moment until another, the oldest first.
    ///
    /// - Parameter limit: The maximum number of events.
    package func dueEvents(
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
