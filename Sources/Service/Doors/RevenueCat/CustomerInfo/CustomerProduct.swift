import Proofs

/// The part of a product that customer info contains.
package struct CustomerProduct: Hashable, Sendable {
    package let type: ProductType
    /// The name for people; nil without one.
    package let displayName: String?

    package init(type: ProductType, displayName: String? = nil) {
        self.type = type
        self.displayName = displayName
    }
}
