/// The state of a ledger's database server, as its last calls found it.
public struct ServerReachability: Hashable, Sendable {
    public let isReachable: Bool
    /// The time since the server became reachable or unreachable.
    public let time: Duration
    /// The length of the last absence, such as a failover; nil if there was none since the start.
    public let lastAbsence: Duration?
}
