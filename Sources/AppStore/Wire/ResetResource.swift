/// The things that a reset of the store cleared.
public struct ResetResource: Codable, Sendable {
    /// The number of transactions sold, renewals included.
    public let sales: Int
    public let notifications: Int
    /// True if the clock had been advanced.
    public let clock: Bool
    /// True if the settings had been changed.
    public let settings: Bool

    public init(sales: Int, notifications: Int, clock: Bool, settings: Bool) {
        self.sales = sales
        self.notifications = notifications
        self.clock = clock
        self.settings = settings
    }
}
