import Entitlements
import Foundation
import Testing

/// Simulations with as many seeds as the time allows. `make simulate SEED=N` runs one seed, `make simulate SECONDS=N` runs
/// longer.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["TILL_SIMULATION_SECONDS"].flatMap(Int.init) ?? 30
    /// The smallest number of simulations of each worker, if other tests leave no time.
    private static let minimum = 5
    private static let workers = ProcessInfo.processInfo.activeProcessorCount
    private static let seed = environment["TILL_SIMULATION_SEED"].flatMap(UInt64.init)

    @Test func nothingIsLostAndNothingGrantedTwice() async throws {
        if let seed = Self.seed {
            await play(seed)
            return
        }
        let (clock, first) = (ContinuousClock(), UInt64.random(in: 0..<1_000_000_000))
        let end = clock.now + .seconds(Self.seconds)
        let played = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<Self.workers {
                group.addTask {
                    var played = 0
                    while clock.now < end || played < Self.minimum,
                        await play(first + UInt64(worker + played * Self.workers))
                    { played += 1 }
                    return played
                }
            }
            return await group.reduce(0, +)
        }
        print("Played \(played) simulations, from seed \(first) on.")
        #expect(played > 0)
    }

    /// A simulation must be able to find errors.
    @Test func aDiskThatLiesIsFound() async throws {
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
    /// - Returns: False if an invariant was violated.
    @discardableResult
    private func play(_ seed: UInt64) async -> Bool {
        var story: [String] = []
        do {
            let simulation = try Simulation(seed: seed)
            do {
                try await simulation.play(steps: 40)
                try await simulation.checkOrder()
                return true
            } catch {
                story = await simulation.story
                throw error
            }
        } catch {
            Issue.record("make simulate SEED=\(seed): \(error)\n\(story.joined(separator: "\n"))")
            return false
        }
    }
}
