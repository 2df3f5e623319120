/// An attribute of a customer.
package struct AttributeResource: Codable, Sendable {
    /// The name. Names that begin with a dollar sign, such as `$email`, are reserved for personal data.
    package let name: String
    package let value: String
    /// The time of the statement (RFC 3339, UTC).
    package let statedAt: String
}
