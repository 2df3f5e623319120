import Proofs

/// A clock beside which some customers have their own, as at a local App Store.
package protocol CustomerClocks: WallClock {
    /// True if any customer has an own clock.
    var hasCustomers: Bool { get }

    /// The time of the customer who bought a transaction; nil if the customer has no own clock.
    func time(ofBuyerOf transactionIdentifier: String) -> Timestamp?

    /// The customers with their own clocks.
    func customers() -> [CustomerTime]
}

package struct CustomerTime: Hashable, Sendable {
    /// The customer's account at the App Store.
    package let account: String
    package let now: Timestamp
    /// The original transactions of all purchases.
    package let originalTransactionIdentifiers: [String]

    package init(account: String, now: Timestamp, originalTransactionIdentifiers: [String]) {
        self.account = account
        self.now = now
        self.originalTransactionIdentifiers = originalTransactionIdentifiers
    }
}
