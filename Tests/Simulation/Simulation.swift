import AppStore
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Vocabulary

/// A simulation of devices with two apps, the stores of the apps and two processes of one service, driven by one seed. It
/// injects random faults, and checks the invariants after each step. In each third simulation, Google Play sells one of the apps, too. In each
/// second one, the clocks of the processes are wrong.
actor Simulation {
    static let products = [
        "garden.gate", "garden.season", "garden.seeds", "garden.basic.monthly", "garden.premium.monthly",
        "garden.basic.yearly",
    ]

    struct Person {
        /// The account in each store.
        let account: String
        /// The user of the service.
        let user: User
        let token: UUID
    }

    struct Post {
        let proof: [UInt8]
        let app: SimulatedApp
        let user: User
    }

    let dice: Dice
    /// The dice of the processes' clocks; nil if these are right.
    let clockDice: Dice?
    let apps: [SimulatedApp]
    /// The Google Play that sells the first app as well; nil in other simulations.
    let googlePlay: SimulatedPlay?
    /// The acme that sells the first app as well; nil in other simulations.
    let acme: SimulatedAcme?
    /// The folder of the ledgers.
    let folder: TemporaryFolder
    /// The beginning of the story.
    let began: Timestamp
    let people: [Person]
    /// True if people sign in on each other's devices.
    let sharesDevices: Bool
    /// The ownership policy of the service.
    let policy: OwnershipPolicy
    let verifier: ProofVerifier
    /// The ledger that the checks read, without faults.
    let ledger: Ledger
    let place: SimulatedLedger
    var processes: [SimulatedProcess]

    /// The proofs that devices sent, including lost ones.
    var posts: [Post] = []
    /// The users who presented a purchase, by its original transaction.
    var presenters: [TransactionKey: Set<User>] = [:]
    /// The users of the transactions that devices may finish.
    var acknowledged: [TransactionKey: User] = [:]
    /// The original transactions of the purchases that the team revoked.
    var takenBack: Set<TransactionKey> = []
    /// The purchases at the Play, in their order.
    var playPurchases: [SimulatedPlayPurchase] = []
    /// The numbers of those whose redemption the app knows of.
    var answeredAtPlay: Set<Int64> = []
    /// The subscriptions at the Play, in their order.
    var playSubscriptions: [SimulatedPlayPurchase] = []
    /// The answers of the Play that processes have not stored yet.
    var lateAnswers: [SimulatedLateAnswer] = []
    /// The times at which they were first seen redeemed, by their numbers.
    var grantedAtPlay: [Int64: Timestamp] = [:]
    /// The contracts at acme, in their order.
    var acmeContracts: [SimulatedAcme.Contract] = []
    /// The names of those whose redemption the app knows of.
    var answeredAtAcme: Set<String> = []
    /// All messages of acme.
    var acmeMessages: [[UInt8]] = []
    var given: [String: [Item]] = [:]
    var spent: [String: Int] = [:]
    var openSpendings: [(person: Int, spending: Spending)] = []
    /// True at the end, when the disks and the network have no faults.
    var isMended = false
    /// The steps so far, for the report of a failing seed.
    var story: [String] = []
    /// The answers of the service in this step.
    var answers: [String] = []
    /// The number of answers about items that the processes have given.
    var answersGiven = 0
    var trace = SimulationTrace()

    /// - Parameters:
    ///   - diskLies: True if the disks report lost commits as written. The checks must find this.
    ///   - sellsAtAcme: True if acme sells the first app, too. All other steps are those without it.
    init(seed: UInt64, diskLies: Bool = false, sellsAtAcme: Bool = false) throws {
        dice = Dice(seed: seed)
        sharesDevices = seed % 2 == 1
        clockDice = seed / 3 % 2 == 0 && !diskLies ? Dice(seed: seed ^ 0xC10C) : nil
        let policies: [OwnershipPolicy] = [
            .keep, .keep, .transfer(pauseSeconds: 86_400), .transferIfInactive(pauseSeconds: 0),
        ]
        let policy = policies[dice.number(below: policies.count)]
        self.policy = policy
        let (dice, faults) = (dice, diskLies ? 30 : [0, 2, 10][dice.number(below: 3)])
        // In half of the simulations, the stores give their transactions the same identifiers.
        let identifierSeeds = seed / 2 % 2 == 0 ? [seed, seed] : [seed, ~seed]
        let apps = try zip(["com.example.garden", "com.example.orchard"], identifierSeeds).enumerated().map {
            number, app in
            try SimulatedApp(app.0, number: number, dice: dice, identifierSeed: app.1)
        }
        // The stores have the same keys.
        let (verifier, now) = (try apps[0].garden.verifier(), apps[0].store.now)
        (self.apps, self.verifier, began) = (apps, verifier, now)
        googlePlay = seed % 3 == 0 && !diskLies ? try SimulatedPlay(of: apps[0], seed: seed) : nil
        acme = sellsAtAcme ? try SimulatedAcme(of: apps[0], seed: seed) : nil
        folder = try TemporaryFolder(isInMemory: true)
        let place = try SimulatedLedger.make(in: folder, named: "ledger")
        self.place = place
        let ledger = try place.open(randomness: dice.randomness)
        self.ledger = ledger
        let endpoint = WebhookEndpoint(
            identifier: Self.webhook, url: "https://example.com", createdAt: now, createdBy: "simulation",
            secret: dice.randomness.bytes(32))
        guard try ledger.writeNow({ try $0.add(endpoint, upTo: 1) }) else {
            throw SimulationError.broken("there is a webhook already")
        }
        people = try ["alice", "bob", "carol"].map { name in
            guard let user = CustomerIdentifier(name)?.user else { throw SimulationError.broken("\(name) is no name") }
            // The team generates one person's token, and sets it when purchases may already have it.
            let token =
                name == "carol"
                ? UUID(randomness: dice.randomness)
                : try ledger.writeNow { try $0.makeAppAccountToken(of: user, at: now) }
            return Person(account: name, user: user, token: token)
        }
        processes = try (0..<2).map { _ in
            try SimulatedProcess(
                apps, place: place, policy: policy, dice: dice, faults: faults, lies: diskLies)
        }
    }
}
