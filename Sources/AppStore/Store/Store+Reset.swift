import Foundation

/// The things that a reset cleared.
public struct ResetResult: Hashable, Sendable {
    /// The number of transactions sold, renewals included.
    public let sales: Int
    public let notifications: Int
    /// True if the clock was ahead of the machine's.
    public let clock: Bool
    /// True if a setting, or a fault of the next notifications, differed from the configuration.
    public let settings: Bool
}

extension Store {
    /// Clears the sales, the notifications, the clock and the settings. The keys, the products and the notification address
    /// stay.
    public func reset() throws(StoreError) -> ResetResult {
        try write { books in
            let state = StateRecords(database: books.database)
            var initial = StoreSettings(configuration)
            initial.notificationsURL = books.settings.notificationsURL
            let cleared = ResetResult(
                sales: try books.count("app_store_transaction"), notifications: try books.count("notification"),
                clock: try state.offset() != 0,
                settings: try initial != books.settings || !state.faults().isEmpty)
            try books.clearSales()
            try state.setOffset(0)
            try state.setSettings(initial)
            try state.setFaults([])
            return cleared
        }
    }
}
