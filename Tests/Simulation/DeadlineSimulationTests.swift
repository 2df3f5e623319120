import Entitlements
import Foundation
import Testing

/// The deadlines of both stores over years. `make test` plays three years each time, and one over PostgreSQL; `make simulate-deadlines`
/// plays a thousand (`YEARS=N`), or that of one seed (`SEED=N`).
@Suite struct DeadlineSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let years =
        environment["TILL_DEADLINE_YEARS"].flatMap(Int.init)
        ?? (environment["TILL_SIMULATION_LEDGER"] == nil ? shownYears : 1)
    /// The years in which there are outages of days.
    private static let shownYears = 3
    private static let seed = environment["TILL_DEADLINE_SEED"].flatMap(UInt64.init)
    private static let daysOfYear: Int64 = 365

    private struct Played {
        var (years, duties, missed) = (0, 0, 0)
        var kinds: Set<StoreDuty.Kind> = []
    }

    @Test func `no deadline is missed that could be kept, and each missed one is shown`() async throws {
        let seeds = Self.seed.map { [$0] } ?? (0..<Self.years).map { UInt64($0 + 1) }
        let (clock, workers) = (ContinuousClock(), ProcessInfo.processInfo.activeProcessorCount)
        let start = clock.now
        let played = await withTaskGroup(of: Played.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var played = Played()
                    for index in stride(from: worker, to: seeds.count, by: workers) {
                        await Self.play(seeds[index], into: &played)
                    }
                    return played
                }
            }
            return await group.reduce(into: Played()) {
                $0.years += $1.years
                $0.duties += $1.duties
                $0.missed += $1.missed
                $0.kinds.formUnion($1.kinds)
            }
        }
        let seconds = (clock.now - start) / .seconds(1)
        print(
            "Played \(played.years) years in \(Int(seconds)) s: \(played.duties) duties, of which \(played.missed) were missed "
                + "and could not be kept.")
        // The outages of days must lead to missed ones, so that the rules are asked.
        if Self.seed == nil, Self.years >= Self.shownYears {
            #expect(played.missed > 0 && played.duties > 100 * played.years)
            #expect(played.kinds == Set(StoreDuty.Kind.allCases))
        }
    }

    @Test func `the deadlines of a seed have the same trace when they are played twice`() async throws {
        for seed in Self.seed.map({ [$0] }) ?? [1, 2, 3] {
            let (trace, again) = (try await Self.trace(of: seed), try await Self.trace(of: seed))
            if let difference = trace.difference(to: again) {
                Issue.record("make simulate-deadlines SEED=\(seed): \(difference)")
            }
            #expect(trace.steps.count > 100)
        }
    }

    private static func trace(of seed: UInt64) async throws -> SimulationTrace {
        let simulation = try DeadlineSimulation(seed: seed, days: 30)
        try await simulation.play()
        return await simulation.trace
    }

    private static func play(_ seed: UInt64, into played: inout Played) async {
        do {
            let simulation = try DeadlineSimulation(seed: seed, days: daysOfYear)
            do {
                try await simulation.play()
            } catch {
                // The last steps tell how it came to it.
                let steps = await simulation.trace.steps.suffix(60).flatMap(\.lines).joined(separator: "\n")
                Issue.record("make simulate-deadlines SEED=\(seed): \(error)\n\(steps)")
            }
            let (duties, missed) = (await simulation.duties, await simulation.missed)
            played.years += 1
            played.duties += duties.count
            played.missed += missed.count
            played.kinds.formUnion(duties.map(\.kind))
        } catch {
            Issue.record("make simulate-deadlines SEED=\(seed): \(error)")
        }
    }
}
