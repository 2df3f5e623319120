import AppStore
import Entitlements
import Proofs
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
        try await rightClocks()
        try await tellTokens()
        for app in apps {
            for queued in try app.store.transactions() where queued.transaction.state == .deferred {
                _ = try app.store.decline(queued.transaction.identifier)
            }
        }
        try await settlePlay()
        try await settleAcme()
        try await launchEverybody()
        for payload in dice.shuffle(try notifications()) { await deliver(payload) }
        try advance(seconds: 2)
        for sale in try sales() {
            _ = try await processes[0].service.receive(statement: try statement(about: sale))
        }
        // The owner of a purchase with an account token may be known only now. The queue delivers it again at each launch.
        try await launchEverybody()
        try await trySpendings()
        try await settleSubscriptions()
        try check()
        try checkPlay()
        try checkAcme()
        try checkEnd()
        try checkPlayEnd()
        try checkAcmeEnd()
        try await checkStates(
            in: ledger, of: processes[0].service, named: "the service", takenBack: takenBack)
        try await checkFigures(of: ledger, named: "the service")
    }

    /// The response of the App Store about a sale.
    func statement(about sale: SimulatedSale) throws -> [UInt8] {
        Array(try sale.app.store.signedTransaction(of: sale.transactionIdentifier).utf8)
    }
}
