import Entitlements
import Logging
import Proofs
import Service
import Synchronization
import TestSupport

/// The clock of a process, which differs from those of the stores.
final class SimulatedClock: WallClock {
    /// The clock of the stores, which is right.
    let base: any WallClock
    /// The seconds by which the clock is ahead.
    private let secondsAhead = Atomic<Int64>(0)

    init(_ base: any WallClock) {
        self.base = base
    }

    var ahead: Int64 {
        get { secondsAhead.load(ordering: .relaxed) }
        set { secondsAhead.store(newValue, ordering: .relaxed) }
    }

    func now() -> Timestamp { base.now().adding(seconds: ahead) }
}

/// The clocks of the processes: in each second simulation, they differ from each other and from the stores' by an hour, and jump by ten days
/// both ways.
extension Simulation {
    private static let usualDifferences: [Int64] = [-3600, 0, 3600]
    private static let jump: Int64 = 10 * 86_400
    private static let logger = Logger(label: "simulation", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Sets the clock of a process, or leaves it.
    func moveClocks() async {
        guard let clockDice else { return }
        for index in processes.indices {
            let clock = processes[index].clock
            let isFar = abs(clock.ahead) == Self.jump
            if clockDice.happens(isFar ? 20 : 8) {
                let jumps = isFar || clockDice.happens(40) ? Self.usualDifferences : [-Self.jump, Self.jump]
                clock.ahead = clockDice.pick(jumps) ?? 0
                story.append("the clock of process \(index) is \(clock.ahead) seconds ahead")
            }
        }
        await lookAtClocks()
    }

    /// Sets all clocks right.
    func rightClocks() async throws {
        guard clockDice != nil else { return }
        for process in processes { process.clock.ahead = 0 }
        await lookAtClocks()
        guard processes.allSatisfy(\.isClockRight) else {
            throw SimulationError.broken("a process has not mended what its clock had written")
        }
    }

    /// Each process looks at its clock, as it does each second. One that has stopped does not.
    func lookAtClocks() async {
        guard clockDice != nil else { return }
        let elapsed = Duration.milliseconds(now.millisecondsSince1970 - began.millisecondsSince1970)
        for index in processes.indices where !processes[index].isStopped {
            var (watch, isRight) = (processes[index].watch, true)
            do {
                try await watch.look(at: processes[index].service, after: elapsed, logger: Self.logger)
            } catch {
                isRight = false
            }
            (processes[index].watch, processes[index].isClockRight) = (watch, isRight)
        }
    }
}
