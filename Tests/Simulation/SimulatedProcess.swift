import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import Service
import TestSupport

/// A process of the service, which shares its ledger with others.
struct SimulatedProcess {
    private let apps: [SimulatedApp]
    private let verifier: ProofVerifier
    private let place: SimulatedLedger
    private let dice: Dice
    /// The number of faults in a hundred commits, from the next start on.
    var faults: Int
    private let lies: Bool
    private let policy: OwnershipPolicy
    let clock: SimulatedClock
    /// What the process knows of its clock since its start.
    var watch = ClockWatch()
    /// False if the last look at the clock failed.
    var isClockRight = true
    private var storage: FaultyStorage
    private(set) var service: EntitlementService
    /// The answers that the process keeps until it ends.
    private(set) var answers = SimulatedAnswers()

    init(
        _ apps: [SimulatedApp], place: SimulatedLedger, policy: OwnershipPolicy, dice: Dice,
        faults: Int,
        lies: Bool
    ) throws {
        self.apps = apps
        clock = SimulatedClock(apps[0].store.clock)
        verifier = try apps[0].garden.verifier(clock: clock)
        self.place = place
        self.dice = dice
        self.faults = faults
        self.lies = lies
        self.policy = policy
        storage = FaultyStorage(
            try place.storage(), dice: dice, faults: faults, lies: lies)
        service = try Self.service(on: storage, apps, verifier, policy, dice, clock)
    }

    /// True if the process answers nothing any more after a fault of its disk.
    var isStopped: Bool { storage.isStopped }

    /// Crashes and starts again.
    mutating func restart() {
        guard let opened = try? place.storage() else { return }
        let storage = FaultyStorage(opened, dice: dice, faults: faults, lies: lies)
        guard let service = try? Self.service(on: storage, apps, verifier, policy, dice, clock) else { return }
        (self.storage, self.service, answers) = (storage, service, SimulatedAnswers())
        (watch, isClockRight) = (ClockWatch(), false)
    }

    private static func service(
        on storage: FaultyStorage,
        _ apps: [SimulatedApp],
        _ verifier: ProofVerifier,
        _ policy: OwnershipPolicy,
        _ dice: Dice,
        _ clock: SimulatedClock
    ) throws -> EntitlementService {
        EntitlementService(
            apps: try Apps(apps.map { App($0.garden.catalog) }), verifier: verifier,
            ledger: Ledger(storage: storage, randomness: dice.randomness), clock: clock,
            randomness: dice.randomness, accepted: SimulatedAcme.accepted,
            policy: policy)
    }
}
