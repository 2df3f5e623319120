import Ledger
import Synchronization

/// The limits that all requests share, with the client addresses for which they apply.
package final class SharedLimits: Sendable {
    package let addresses: ClientAddresses
    package let bodies: BodyBudget
    /// The limit on requests in progress. Nil if connections are limited instead.
    package let requests: OpenRequests?
    /// The reserve of free space. Nil if there is none.
    package let reserve: StorageReserve?
    /// The budget of users without a purchase. Nil for no limit.
    let newcomers: NewcomerBudget?
    /// The ledger, whose queue of commits refuses writes without a proof first. Nil if there is none.
    let ledger: Ledger?
    /// The limit on log lines about errors.
    package let lines = LogLimit()
    private let hasWarnedAboutProxy = Atomic(false)

    package init(
        addresses: ClientAddresses,
        bodies: BodyBudget,
        requests: OpenRequests? = nil,
        reserve: StorageReserve? = nil,
        newcomers: NewcomerBudget? = nil,
        ledger: Ledger? = nil
    ) {
        self.addresses = addresses
        self.bodies = bodies
        self.requests = requests
        self.reserve = reserve
        self.newcomers = newcomers
        self.ledger = ledger
    }

    /// Returns true on the first call only.
    func shouldWarnAboutProxy() -> Bool { !hasWarnedAboutProxy.exchange(true, ordering: .relaxed) }
}
