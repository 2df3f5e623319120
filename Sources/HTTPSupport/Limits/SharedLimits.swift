import Synchronization

/// The limits that all requests share, with the client addresses for which they apply.
package final class SharedLimits: Sendable {
    package let addresses: ClientAddresses
    package let bodies: BodyBudget
    /// The limit on requests in progress. Nil if connections are limited instead.
    package let requests: OpenRequests?
    /// The reserve of free space. Nil if there is none.
    package let reserve: StorageReserve?
    /// The limit on log lines about errors.
    package let lines = LogLimit()
    private let hasWarnedAboutProxy = Atomic(false)

    package init(
        addresses: ClientAddresses,
        bodies: BodyBudget,
        requests: OpenRequests? = nil,
        reserve: StorageReserve? = nil
    ) {
        self.addresses = addresses
        self.bodies = bodies
        self.requests = requests
        self.reserve = reserve
    }

    /// Returns true on the first call only.
    package func shouldWarnAboutProxy() -> Bool { !hasWarnedAboutProxy.exchange(true, ordering: .relaxed) }
}
