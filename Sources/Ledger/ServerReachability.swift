/// The state of a ledger's database server, as its last calls found it.
package struct ServerReachability: Hashable, Sendable {
    package let isReachable: Bool
    /// The time since the server became reachable or unreachable.
    package let time: Duration
    /// The length of the last absence, such as a failover; nil if there was none since the start.
    package let lastAbsence: Duration?
}
