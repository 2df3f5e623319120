import Commerce
import Entitlements
import Store
import TestSupport

/// The end of a simulation, without faults.
extension Simulation {
    /// Repairs all faults, completes all open work and checks the invariants.
    func settle() async throws {
        isMended = true
        for index in processes.indices {
            processes[index].faults = 0
            processes[index].restart()
        }
        try await tellTokens()
        for queued in try garden.store.transactions() where queued.transaction.state == .deferred {
            _ = try garden.store.decline(queued.transaction.identifier)
        }
        try await launchEverybody()
        for notification in dice.shuffle(try garden.store.notifications()) { await deliver(notification.signedPayload) }
        _ = try garden.store.advance(seconds: 2)
        let api = AppStoreServerAPI(store: garden.store)
        for sale in try people.flatMap({ try garden.store.history(of: $0.account) }) {
            let statement = try api.transactionInfo(sale.transactionIdentifier).signedTransactionInfo
            _ = try await processes[0].service.receive(statement: Array(statement.utf8))
        }
        // The owner of a purchase with an account token may be known only now. The queue delivers it again at each launch.
        try await launchEverybody()
        try await trySpendings()
        try check()
        try checkEnd()
        try checkStates()
    }
}
