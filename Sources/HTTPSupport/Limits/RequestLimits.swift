/// The rate limits of callers, in requests per minute.
public struct RequestLimits: Sendable {
    public var perKey: Int
    public var perUser: Int

    public init(perKey: Int = 6000, perUser: Int = 300) {
        self.perKey = perKey
        self.perUser = perUser
    }
}
