import Foundation
import Testing

/// Seeds of simulations, as many as there is time for: `make simulate SEED=N` plays one, `make simulate SECONDS=N` plays for
/// longer.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["TILL_SIMULATION_SECONDS"].flatMap(Int.init) ?? 30
    private static let seed = environment["TILL_SIMULATION_SEED"].flatMap(UInt64.init)

    @Test func nothingIsLostAndNothingGrantedTwice() async throws {
        if let seed = Self.seed {
            await play(seed)
            return
        }
        let (clock, first) = (ContinuousClock(), UInt64.random(in: 0..<1_000_000_000))
        let end = clock.now + .seconds(Self.seconds)
        var seed = first
        while clock.now < end {
            guard await play(seed) else { return }
            seed += 1
        }
        print("Played \(seed - first) simulations, from seed \(first) on.")
        #expect(seed - first > 0)
    }

    /// - Returns: false where something was lost, doubled or otherwise wrong.
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
