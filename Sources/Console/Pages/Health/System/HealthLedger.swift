import Ledger

/// The ledger of the running service.
package struct HealthLedger: Sendable {
    /// The file, or the address of the database without its password.
    let place: String
    let state: LedgerState
    /// The state of the database server; nil for a file.
    let server: ServerReachability?

    package init(place: String, state: LedgerState, server: ServerReachability?) {
        self.place = place
        self.state = state
        self.server = server
    }
}
