import Entitlements
import Foundation
import Testing

/// Simulations with as many seeds as the time allows. `make test` plays the same hundred each time, so that a failure is due to a
/// change, and `make test-postgres` the first of them over PostgreSQL (`TILL_SIMULATION_SEEDS`). `make simulate SECONDS=N` plays
/// others for longer, `make simulate SEED=N` plays one.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["TILL_SIMULATION_SECONDS"].flatMap(Int.init) ?? 30
    /// The smallest number of simulations of each worker, if other tests leave no time.
    private static let minimum = 5
    /// The number of seeds, unless others are explored.
    private static let seedCount = environment["TILL_SIMULATION_SEEDS"].flatMap(Int.init) ?? 100
    private static let workers = ProcessInfo.processInfo.activeProcessorCount
    private static let seed = environment["TILL_SIMULATION_SEED"].flatMap(UInt64.init)

    @Test func `no purchase is lost or granted twice`() async throws {
        if let seed = Self.seed {
            await play(seed)
            return
        }
        let isExploring = Self.environment["TILL_SIMULATION_SECONDS"] != nil
        let (clock, first) = (ContinuousClock(), isExploring ? UInt64.random(in: 0..<1_000_000_000) : 1)
        let end = clock.now + .seconds(Self.seconds)
        let counts = await withTaskGroup(of: [Int].self) { group in
            for worker in 0..<Self.workers {
                group.addTask {
                    var counts: [Int] = []
                    while clock.now < end || counts.count < Self.minimum,
                        isExploring || worker + counts.count * Self.workers < Self.seedCount,
                        let count = await play(first + UInt64(worker + counts.count * Self.workers))
                    { counts.append(count) }
                    return counts
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let shared = counts.reduce(0, +)
        print("Played \(counts.count) simulations, from seed \(first) on, with \(shared) identifiers of both apps.")
        #expect(shared > 0)
    }

    /// It takes the steps of the same seeds, and more.
    @Test func `the same holds beside a store that the service has no line of`() async throws {
        await withTaskGroup { group in
            for seed: UInt64 in 1...12 {
                group.addTask {
                    await play(seed, sellsAtAcme: true)
                }
            }
        }
    }

    @Test func `a seed played twice gives the same trace`() async throws {
        let first = Self.seed ?? UInt64.random(in: 0..<1_000_000_000)
        // Four seeds in a row share devices or do not, with the same identifiers in both apps or others.
        let seeds = first..<first + (Self.seed == nil ? 4 : 1)
        await withTaskGroup { group in
            for seed in seeds {
                group.addTask {
                    do {
                        let (trace, again) = (try await Self.trace(of: seed), try await Self.trace(of: seed))
                        if let difference = trace.difference(to: again) {
                            Issue.record("make simulate SEED=\(seed): \(difference)")
                        }
                        if Self.seed != nil { print("The trace of seed \(seed): \(trace.steps.last?.digest ?? "-")") }
                    } catch {
                        Issue.record("make simulate SEED=\(seed): \(error)")
                    }
                }
            }
        }
    }

    private static func trace(of seed: UInt64) async throws -> SimulationTrace {
        let simulation = try Simulation(seed: seed)
        try await simulation.play(steps: 40)
        return await simulation.trace
    }

    @Test func `a trace names the first step that differs`() {
        var (trace, other) = (SimulationTrace(), SimulationTrace())
        trace.add(["buy", "a sale"])
        other.add(["buy", "a sale"])
        #expect(trace.difference(to: other) == nil)
        trace.add(["refund", "refunded"])
        #expect(trace.difference(to: other) == "one play has 2 steps, the other has 1")
        other.add(["refund", "declined"])
        for step in ["launch", "launch"] {
            trace.add([step])
            other.add([step])
        }
        #expect(trace.difference(to: other) == "step 2, refund, differs:\n- refunded\n+ declined")
        #expect(trace.steps.last?.digest != other.steps.last?.digest)
    }

    /// A simulation must be able to find errors.
    @Test func `the checks find a disk that reports lost commits as written`() async throws {
        let found = await withTaskGroup(of: Bool.self) { group in
            for seed in 0..<8 {
                group.addTask {
                    do {
                        try await Simulation(seed: UInt64(seed), diskLies: true).play(steps: 40)
                        return false
                    } catch {
                        return error is SimulationError
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(found >= 4)
    }

    /// Runs the simulation of a seed.
    ///
    /// - Returns: The number of identifiers that transactions of both apps have; nil if an invariant was violated.
    @discardableResult
    private func play(_ seed: UInt64, sellsAtAcme: Bool = false) async -> Int? {
        var story: [String] = []
        do {
            let simulation = try Simulation(seed: seed, sellsAtAcme: sellsAtAcme)
            do {
                try await simulation.play(steps: 40)
                try await simulation.checkOrder()
                return try await simulation.sharedIdentifiers()
            } catch {
                story = await simulation.story
                throw error
            }
        } catch {
            Issue.record("make simulate SEED=\(seed): \(error)\n\(story.joined(separator: "\n"))")
            return nil
        }
    }
}
