import Synchronization

/// The limits that all requests share, and the addresses that they are counted by.
package final class SharedLimits: Sendable {
    package let addresses: ClientAddresses
    package let bodies: BodyBudget
    /// Nil where connections are limited instead.
    package let requests: OpenRequests?
    private let isProxyNoted = Atomic(false)

    package init(addresses: ClientAddresses, bodies: BodyBudget, requests: OpenRequests? = nil) {
        self.addresses = addresses
        self.bodies = bodies
        self.requests = requests
    }

    /// Whether it is the first time that this is asked.
    package func notesProxy() -> Bool { !isProxyNoted.exchange(true, ordering: .relaxed) }
}
