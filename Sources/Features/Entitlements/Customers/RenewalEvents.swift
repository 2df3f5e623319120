import Proofs

/// The moments of events about the renewal of a user's subscriptions, by the latest transaction of each at that time.
package struct RenewalEvents: Hashable, Sendable {
    /// The last moments at which renewal was turned off.
    package var turnedOff: [ByteKey: Timestamp] = [:]
    /// The first moments at which a charge failed.
    package var chargeFailed: [ByteKey: Timestamp] = [:]

    package init() {}
}
