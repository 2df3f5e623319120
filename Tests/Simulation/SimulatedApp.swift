import AppStore
import Catalog
import Entitlements
import Proofs
import TestSupport

/// An app of the simulated service, and its store.
struct SimulatedApp: Sendable {
    let garden: TestGarden
    private let randomness: StoreRandomness

    /// - Parameters:
    ///   - number: The place of the app among all apps.
    ///   - identifierSeed: Stores with one seed may give transactions the same identifiers.
    init(_ bundleIdentifier: String, number: Int, dice: Dice, identifierSeed: UInt64) throws {
        randomness = StoreRandomness(dice, seed: identifierSeed)
        // The products of each app grant other items and amounts.
        garden = try TestGarden(
            bundleIdentifier: bundleIdentifier, gate: 1 + number, seeds: 10 + number,
            randomness: randomness.randomness, isInMemory: true)
    }

    var bundleIdentifier: String { garden.bundleIdentifier }

    var store: Store { garden.store }

    /// The key of a transaction of the app.
    func key(_ identifier: String) -> TransactionKey {
        TransactionKey(app: bundleIdentifier, origin: .localSandbox, identifier: identifier)
    }

    /// All that was sold to accounts, in order.
    func sales(to accounts: [String]) throws -> [SimulatedSale] {
        try accounts.flatMap { try store.history(of: $0) }.map { SimulatedSale(app: self, transaction: $0) }
    }

    /// Begins the series of the identifiers of the next transactions: its number is that of the transactions so far.
    func beginIdentifiers(after sales: Int) {
        randomness.begin(series: sales)
    }
}

extension TransactionKey {
    /// The identifier and the app, for a report.
    var name: String { "\(identifier) of \(app)" }
}
