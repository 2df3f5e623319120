/// The rate limits of callers, in requests per minute.
public struct RequestLimits: Sendable {
    public var perKey: Int
    public var perUser: Int
    /// The limit of each public key, which all installations of an app share.
    public var perPublicKey: Int
    /// The limit of each client address with a public key. Customers of a mobile network share an address.
    public var perPublicKeyAddress: Int

    public init(perKey: Int = 6000, perUser: Int = 300, perPublicKey: Int = 60_000, perPublicKeyAddress: Int = 1200) {
        self.perKey = perKey
        self.perUser = perUser
        self.perPublicKey = perPublicKey
        self.perPublicKeyAddress = perPublicKeyAddress
    }
}
