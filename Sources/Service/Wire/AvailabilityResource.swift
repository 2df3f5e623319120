/// The availability of an e-mail address for a new account.
public struct AvailabilityResource: Codable, Sendable {
    public let isAvailable: Bool

    public init(isAvailable: Bool) {
        self.isAvailable = isAvailable
    }
}
