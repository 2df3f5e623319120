/// Runs an attack against a service of its own.
enum AttackRunner {
    /// The bytes by which the files of the data directory may grow. The service empties the write-ahead log beyond 16 MiB; the rest is
    /// more than the probes write, and than an attack may.
    private static let maximumGrowth = 32 << 20

    static func run(_ attack: some Attack) async throws -> AttackReport {
        try OpenFileLimit.raise()
        let fixture = try await AttackFixture()
        let service = try await AttackedService(fixture, options: attack.serviceOptions)
        let attacker = try Attacker(port: service.port, addressCount: attack.addressCount, door: fixture.door)
        let prober = try Prober(port: service.port)
        let result: Result<AttackReport, any Error>
        do {
            result = .success(try await measure(attack, fixture, service, attacker, prober))
        } catch {
            result = .failure(error)
        }
        try await attacker.stop()
        try await prober.stop()
        return try result.get()
    }

    private static func measure(
        _ attack: some Attack,
        _ fixture: AttackFixture,
        _ service: AttackedService,
        _ attacker: Attacker,
        _ prober: Prober
    ) async throws -> AttackReport {
        let probes =
            [.health, try .redemption(fixture)]
            + (try await attack.probes(from: prober.client, in: fixture))
        for probe in probes where probe.isWarmedUp { try await prober.warmUp(probe) }
        for probe in probes { prober.start(probe) }
        let size = fixture.dataSize
        try await attack.start(by: attacker)
        try await Task.sleep(for: attack.duration)
        let latencies = try await prober.finish()
        let memory = try ProcessMemory(of: service.processIdentifier)
        let growth = Finding("bytes of growth", max(0, fixture.dataSize - size), in: 0...maximumGrowth)
        let findings = [growth] + (try await attack.findings(from: prober.client, in: fixture))
        // The load continues, because the service must stop under attack.
        let end = await service.end()
        // The ledger must be sound.
        _ = try await fixture.users()
        return AttackReport(
            name: attack.name, latencies: latencies, memory: memory, findings: findings, end: end,
            connections: attacker.connections, log: service.log)
    }
}
