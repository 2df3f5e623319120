import Commerce
import Entitlements
import Store
import TestSupport

/// The end of a simulation, when nothing fails any more.
extension Simulation {
    /// Everything that failed is mended; everybody does what is left to do.
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
        // Whose a purchase is that names somebody may be known only now; the queue delivers it again at every launch.
        try await launchEverybody()
        try await trySpendings()
        try check()
        try checkEnd()
        try await checkStates(
            in: ledger, of: processes[0].service, named: "the service", takenBack: takenBack)
        try await checkFigures(of: ledger, named: "the service")
    }
}
