/// The things that a reset of the store cleared.
package struct ResetResource: Codable, Sendable {
    /// The number of transactions sold, renewals included.
    package let sales: Int
    package let notifications: Int
    /// True if the clock had been advanced.
    package let clock: Bool
    /// True if the settings had been changed.
    package let settings: Bool
}
