/// An attribute of a customer.
public struct AttributeResource: Codable, Sendable {
    /// The name. Names that begin with a dollar sign, such as `$email`, are reserved for personal data.
    public let name: String
    public let value: String
    /// The time of the statement (RFC 3339, UTC).
    public let statedAt: String

    public init(name: String, value: String, statedAt: String) {
        self.name = name
        self.value = value
        self.statedAt = statedAt
    }
}
