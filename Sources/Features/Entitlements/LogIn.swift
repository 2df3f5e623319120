/// The result of a log-in.
package struct LogIn: Hashable, Sendable {
    /// The largest number of records of an anonymous customer that a log-in moves. Purchases of everybody wait meanwhile.
    package static let maximumRecords = 5000

    package enum Effect: String, Sendable {
        /// The ids were already the same customer's, or they are those of two known customers. Or the anonymous id has nothing, and
        /// the customer has no room for another alias.
        case unchanged
        /// The anonymous id became a further id of the customer.
        case aliased
        /// The anonymous customer became one with the known customer.
        case merged
    }

    /// True if the new id was unknown.
    package let isNew: Bool
    package let effect: Effect
}
