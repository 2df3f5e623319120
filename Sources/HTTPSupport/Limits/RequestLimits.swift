/// The rate limits of callers, in requests per minute.
public struct RequestLimits: Sendable {
    public var perKey: Int
    public var perUser: Int
    /// The limit of each client address with a public key. Customers of a mobile network share an address. A public key itself has
    /// no limit: all installations of an app hold it, so strangers would use it up.
    public var perPublicKeyAddress: Int

    public init(perKey: Int = 6000, perUser: Int = 300, perPublicKeyAddress: Int = 1200) {
        self.perKey = perKey
        self.perUser = perUser
        self.perPublicKeyAddress = perPublicKeyAddress
    }
}
