import Synchronization

/// The limits that all requests share, and the addresses that they are counted by.
final class SharedLimits: Sendable {
    let addresses: ClientAddresses
    let bodies: BodyBudget
    /// Nil where connections are limited instead.
    let requests: OpenRequests?
    private let isProxyNoted = Atomic(false)

    init(addresses: ClientAddresses, bodies: BodyBudget, requests: OpenRequests? = nil) {
        self.addresses = addresses
        self.bodies = bodies
        self.requests = requests
    }

    /// Whether it is the first time that this is asked.
    func notesProxy() -> Bool { !isProxyNoted.exchange(true, ordering: .relaxed) }
}
