import Catalog
import Commerce
import Entitlements
import Foundation
import Ledger
import Receipts
import TestSupport

/// A process of the service, which shares its ledger with others.
struct SimulatedProcess {
    private let garden: TestGarden
    private let verifier: ProofVerifier
    private let place: SimulatedLedger
    private let dice: Dice
    /// The number of faults in a hundred commits, from the next start on.
    var faults: Int
    private let lies: Bool
    private let policy: OwnershipPolicy
    private var storage: FaultyStorage
    private(set) var service: EntitlementService

    init(
        _ garden: TestGarden, verifier: ProofVerifier, place: SimulatedLedger, policy: OwnershipPolicy, dice: Dice,
        faults: Int,
        lies: Bool
    ) throws {
        self.garden = garden
        self.verifier = verifier
        self.place = place
        self.dice = dice
        self.faults = faults
        self.lies = lies
        self.policy = policy
        storage = FaultyStorage(
            try place.storage(), dice: dice, faults: faults, lies: lies)
        service = Self.service(on: storage, garden, verifier, policy, dice)
    }

    /// True if the process answers nothing any more after a fault of its disk.
    var isStopped: Bool { storage.isStopped }

    /// Crashes and starts again.
    mutating func restart() {
        guard let opened = try? place.storage() else { return }
        storage = FaultyStorage(opened, dice: dice, faults: faults, lies: lies)
        service = Self.service(on: storage, garden, verifier, policy, dice)
    }

    private static func service(
        on storage: FaultyStorage,
        _ garden: TestGarden,
        _ verifier: ProofVerifier,
        _ policy: OwnershipPolicy,
        _ dice: Dice
    ) -> EntitlementService {
        EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: verifier,
            ledger: Ledger(storage: storage, randomness: dice.randomness), clock: garden.store.clock,
            randomness: dice.randomness, policy: policy)
    }
}
