import Proofs

/// A right that a user has, or had until it ended.
public struct UserRight: Hashable, Sendable {
    public let name: String
    /// True if the user has the right at the moment.
    public let isActive: Bool
    /// The item that gives the right, by the source that ends last. Its period is that of the right.
    public let item: OwnedItem

    package init(name: String, isActive: Bool, item: OwnedItem) {
        self.name = name
        self.isActive = isActive
        self.item = item
    }
}
