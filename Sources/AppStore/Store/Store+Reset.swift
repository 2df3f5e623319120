import Foundation

/// The things that a reset cleared.
package struct ResetResult: Hashable, Codable, Sendable {
    /// The number of transactions sold, renewals included.
    package let sales: Int
    package let notifications: Int
    /// True if the clock was ahead of the machine's.
    package let clock: Bool
    /// True if a setting, or a fault of the next notifications, differed from the configuration.
    package let settings: Bool
}

extension Store {
    /// Clears the sales, the notifications, the clock and the settings. The keys, the products and the notification address
    /// stay.
    package func reset() throws(StoreError) -> ResetResult {
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
