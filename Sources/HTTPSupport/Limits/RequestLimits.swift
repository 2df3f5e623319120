/// The rate limits of callers, in requests per minute, and the budgets of strangers, in bytes per day.
package struct RequestLimits: Sendable {
    package var perKey: Int
    package var perUser: Int
    /// The limit of each client address with a public key. Customers of a mobile network share an address. A public key itself has
    /// no limit: all installations of an app hold it, so strangers would use it up.
    package var perPublicKeyAddress: Int
    /// The bytes that public callers may write in a day for customers without a purchase.
    package var newcomerBytesPerDay: Int
    /// The bytes of one client address.
    package var newcomerBytesPerAddress: Int

    package init(
        perKey: Int = 6000,
        perUser: Int = 300,
        perPublicKeyAddress: Int = 1200,
        newcomerBytesPerDay: Int = 128 << 20,
        newcomerBytesPerAddress: Int = 8 << 20
    ) {
        self.perKey = perKey
        self.perUser = perUser
        self.perPublicKeyAddress = perPublicKeyAddress
        self.newcomerBytesPerDay = newcomerBytesPerDay
        self.newcomerBytesPerAddress = newcomerBytesPerAddress
    }
}
