import Commerce
import Receipts

extension StatedRenewal {
    /// The longest time before the purchase date of a period in which a statement about its renewal is signed, in days: the App
    /// Store charges within a day before a period begins.
    private static let renewalDays: Int64 = 1

    /// Returns true if the statement is about the period or a later one.
    ///
    /// - Parameter purchaseDate: The purchase date of the period.
    package func counts(forPeriodFrom purchaseDate: Timestamp) -> Bool {
        statedAt >= purchaseDate.adding(days: -Self.renewalDays)
    }
}
