import Proofs

/// An attribute of a customer, such as `$email`.
package struct CustomerAttribute: Hashable, Sendable {
    package let name: String
    /// Nil for a deleted attribute.
    package let value: String?
    package let updatedAt: Timestamp

    package init(name: String, value: String?, updatedAt: Timestamp) {
        self.name = name
        self.value = value
        self.updatedAt = updatedAt
    }
}
