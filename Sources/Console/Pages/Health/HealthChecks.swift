import Proofs

/// The checks of the installation. Their results are kept for a minute, and concurrent requests share one run.
actor HealthChecks {
    struct Results: Sendable {
        let checks: [HealthCheck]
        let certificates: [HealthCertificate]
        let ranAt: Timestamp
    }

    /// The time for which results are kept, in milliseconds.
    private static let keepingTime: Int64 = 60_000
    /// The shortest time between two runs, in milliseconds.
    private static let minimumInterval: Int64 = 2000

    private let source: any HealthSource
    private let clock: any WallClock
    private var last: Results?
    private var run: Task<Results, Never>?

    init(_ source: any HealthSource, clock: any WallClock) {
        self.source = source
        self.clock = clock
    }

    /// - Parameter isRepeated: True to run the checks again, unless they have just run.
    func results(isRepeated: Bool = false) async -> Results {
        let keepingTime = isRepeated ? Self.minimumInterval : Self.keepingTime
        if let last, clock.now().millisecondsSince1970 - last.ranAt.millisecondsSince1970 < keepingTime { return last }
        if let run { return await run.value }
        let task = Task { [source, clock] in
            async let certificates = source.certificates()
            return Results(
                checks: await source.checks(), certificates: await certificates, ranAt: clock.now())
        }
        run = task
        let results = await task.value
        (last, run) = (results, nil)
        return results
    }
}
