import Ledger
import Proofs

/// The times of users. Beside a local App Store, a customer may have an own clock. What the service says about a user is then as of
/// the time of the account that bought the user's newest transaction. All other users have the service's time.
extension EntitlementService {
    /// The time of a user.
    package func now(of user: User) async throws -> Timestamp {
        guard customerClocks?.hasCustomers == true else { return clock.now() }
        return try await ledger.read(.statement) { try now(of: user, $0) }
    }

    /// The time of the customer who bought a transaction.
    package func now(ofBuyerOf transactionIdentifier: String) -> Timestamp {
        customerClocks?.time(ofBuyerOf: transactionIdentifier) ?? clock.now()
    }

    func now(of user: User, _ transaction: LedgerTransaction) throws -> Timestamp {
        guard let customerClocks, customerClocks.hasCustomers else { return clock.now() }
        return try transaction.newestTransaction(of: user).flatMap(customerClocks.time(ofBuyerOf:)) ?? clock.now()
    }

    /// The viewpoint of the caller, as of a user's time.
    func view(of user: User, _ transaction: LedgerTransaction) throws -> Viewpoint {
        view(at: try now(of: user, transaction))
    }

    /// The customers with their own clocks.
    package var customers: [CustomerTime] { customerClocks?.customers() ?? [] }
}

extension CustomerClocks {
    /// The groups of requests that have one time, in the order of the requests.
    func groups(of requests: [ClaimRequest]) -> [(moment: Timestamp, requests: [ClaimRequest])] {
        let now = now()
        guard hasCustomers else { return [(now, requests)] }
        return requests.map { request in
            (request.claims.first.flatMap { time(ofBuyerOf: $0.transactionIdentifier) } ?? now, [request])
        }
    }
}

extension LedgerTransaction {
    /// The transaction that a user redeemed last; nil for a user without one.
    fileprivate func newestTransaction(of user: User) throws -> String? {
        guard let number = try users.known(user) else { return nil }
        return try database.value(
            SQLQuery(
                "SELECT transaction_id FROM redeemed_transaction WHERE user_id = $1 ORDER BY sequence DESC LIMIT 1",
                [number]))
    }
}

/// The purchases whose states are recorded by one clock.
package enum ClockPurchases: Sendable {
    case all
    /// The purchases of a customer with an own clock, by their original transactions.
    case only([String])
    /// The purchases of all others.
    case except([String])

    /// The condition of their rows, with its argument at a place.
    func condition(_ parameter: String, _ database: any LedgerDatabase) -> (
        sql: String, arguments: [any SQLConvertible]
    ) {
        switch self {
        case .all: ("", [])
        case .only(let originals):
            (" AND original_transaction_id \(database.isIn(parameter))", [database.list(originals)])
        case .except(let originals):
            (" AND NOT original_transaction_id \(database.isIn(parameter))", [database.list(originals)])
        }
    }
}
