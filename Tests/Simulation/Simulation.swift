import Commerce
import Entitlements
import Foundation
import Ledger
import Receipts
import Store
import TestSupport
import Webhooks

/// Devices, two processes of one service, and the store, played by one seed: whatever can go wrong between them does, as the
/// dice fall, and what must hold is looked at after every step.
actor Simulation {
    static let products = [
        "garden.gate", "garden.season", "garden.seeds", "garden.basic.monthly", "garden.premium.monthly",
        "garden.basic.yearly",
    ]

    struct Person {
        /// Of the store.
        let account: String
        /// Of the service.
        let user: User
        let token: UUID
    }

    let dice: Dice
    let garden: TestGarden
    /// The beginning of the story.
    let began: Timestamp
    let people: [Person]
    /// Whether people sign in on each other's devices.
    let sharesDevices: Bool
    /// Of the service.
    let policy: OwnershipPolicy
    let verifier: ProofVerifier
    /// Reads what the processes have written; its disk is sound.
    let ledger: Ledger
    let place: SimulatedLedger
    var processes: [SimulatedProcess]

    /// All that a device has sent, whether it arrived or not.
    var posts: [(proof: [UInt8], user: User)] = []
    /// Who has presented a purchase, by its original transaction.
    var presenters: [String: Set<User>] = [:]
    /// What devices were told they may finish, and for whom.
    var acknowledged: [String: User] = [:]
    /// By original transaction: what the team has taken back.
    var takenBack: Set<String> = []
    var given: [String: [Item]] = [:]
    var spent: [String: Int] = [:]
    var openSpendings: [(person: Int, spending: Spending)] = []
    /// Whether the disks and the network work, as they do at the end.
    var isMended = false
    /// The steps so far, to understand a seed that fails.
    var story: [String] = []

    /// - Parameter diskLies: Whether the disks say that they have taken what they have not; then something has to be found wrong.
    init(seed: UInt64, diskLies: Bool = false) throws {
        dice = Dice(seed: seed)
        sharesDevices = seed % 2 == 1
        let policies: [OwnershipPolicy] = [
            .keep, .keep, .transfer(pauseSeconds: 86_400), .transferIfInactive(pauseSeconds: 0),
        ]
        let policy = policies[dice.number(below: policies.count)]
        self.policy = policy
        let (dice, faults) = (dice, diskLies ? 30 : [0, 2, 10][dice.number(below: 3)])
        let garden = try TestGarden(randomness: dice.randomness, isInMemory: true)
        let verifier = try garden.verifier()
        (self.garden, self.verifier, began) = (garden, verifier, garden.store.now)
        let place = try SimulatedLedger.make(in: garden.folder, named: "ledger")
        self.place = place
        let ledger = try place.open(randomness: dice.randomness)
        self.ledger = ledger
        let endpoint = WebhookEndpoint(
            identifier: Self.webhook, url: "https://example.com", createdAt: garden.store.now, createdBy: "simulation",
            secret: dice.randomness.bytes(32))
        guard try ledger.writeNow({ try $0.add(endpoint, upTo: 1) }) else {
            throw SimulationError.broken("there is a webhook already")
        }
        let now = garden.store.now
        people = try ["alice", "bob", "carol"].map { name in
            guard let user = User(name: name) else { throw SimulationError.broken("\(name) is no name") }
            // The token of one is the team's own, of which the service is told when it has been in use for a while.
            let token =
                name == "carol"
                ? UUID(randomness: dice.randomness)
                : try ledger.writeNow { try $0.makeAppAccountToken(of: user, at: now) }
            return Person(account: name, user: user, token: token)
        }
        processes = try (0..<2).map { _ in
            try SimulatedProcess(
                garden, verifier: verifier, place: place, policy: policy, dice: dice, faults: faults, lies: diskLies)
        }
    }
}
