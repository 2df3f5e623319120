import NIOCore

/// One way to attack the service.
protocol Attack: Sendable {
    /// The name in the report.
    var name: String { get }
    /// The options of `till serve` that the attack needs.
    var serviceOptions: [String] { get }
    /// The number of addresses that the load comes from.
    var addressCount: Int { get }
    /// The time of the measurement, once the load has started.
    var duration: Duration { get }

    /// Further probes, sent beside those of every attack.
    ///
    /// - Parameters:
    ///   - client: The client that sends the probes.
    ///   - fixture: The data directory and the chains that the service trusts.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe]

    /// Starts the load, which lasts until the attacker stops.
    func start(by attacker: Attacker) async throws

    /// Reads the quantities that the attack must not push beyond their limits, while the load continues.
    func findings(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Finding]
}

extension Attack {
    var serviceOptions: [String] { [] }
    var addressCount: Int { 1 }
    var duration: Duration { .seconds(6) }

    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] { [] }
    func findings(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Finding] { [] }
}
