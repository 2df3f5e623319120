import AppStore
import Proofs

/// The stores of the apps.
extension Simulation {
    /// The time in all stores.
    var now: Timestamp { apps[0].store.now }

    /// Moves the clocks of all stores on together.
    func advance(seconds: Int64) throws {
        for app in apps { _ = try app.store.advance(seconds: seconds) }
    }

    /// All that was sold.
    func sales() throws -> [SimulatedSale] {
        try apps.flatMap { try $0.sales(to: people.map(\.account)) }
    }

    /// The number of identifiers that transactions of several apps have.
    func sharedIdentifiers() throws -> Int {
        let sales = try sales()
        return sales.count - Set(sales.map(\.transactionIdentifier)).count
    }

    /// The signed notifications of all stores.
    func notifications() throws -> [String] {
        try apps.flatMap { try $0.store.notifications().map(\.signedPayload) }
    }

    /// Draws the identifiers of the next transactions by the number of those so far, so that the identifiers of two stores
    /// may be the same again after different steps.
    func beginIdentifiers() throws {
        for app in apps { app.beginIdentifiers(after: try app.sales(to: people.map(\.account)).count) }
    }
}
