import Proofs

/// A right that a user has, or had until it ended.
package struct UserRight: Hashable, Sendable {
    package let name: String
    /// True if the user has the right at the moment.
    package let isActive: Bool
    /// The item that gives the right, by the source that ends last. Its period is that of the right.
    package let item: OwnedItem
}
