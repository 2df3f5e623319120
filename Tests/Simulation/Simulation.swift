import Commerce
import Device
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
    let people: [Person]
    /// Whether people sign in on each other's devices.
    let sharesDevices: Bool
    /// Of the service.
    let policy: OwnershipPolicy
    let verifier: ProofVerifier
    /// Reads what the processes have written; its disk is sound.
    let ledger: Ledger
    let place: SimulatedLedger
    private(set) var processes: [SimulatedProcess]

    /// All that a device has sent, whether it arrived or not.
    private(set) var posts: [(proof: [UInt8], user: User)] = []
    /// Who has presented a purchase, by its original transaction.
    private(set) var presenters: [String: Set<User>] = [:]
    /// What devices were told they may finish, and for whom.
    private(set) var acknowledged: [String: User] = [:]
    /// By original transaction: what the team has taken back.
    var takenBack: Set<String> = []
    private(set) var given: [String: [Item]] = [:]
    private(set) var spent: [String: Int] = [:]
    private var openSpendings: [(person: Int, spending: Spending)] = []
    /// What has been done, for whoever looks at a seed that fails.
    private(set) var story: [String] = []

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
        (self.garden, self.verifier) = (garden, verifier)
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

    // MARK: Steps

    private enum Step: CaseIterable {
        case buy, launch, restore, deliver, arriveTogether, repeatPost, tellToken, refund, reverse, passTime,
            stopRenewing
        case spend, takeBack, reinstate, give, restart, approve

        /// As often as it shall come up.
        static let all = allCases + [.buy, .buy, .buy, .buy, .launch, .launch, .deliver]
    }

    func play(steps: Int) async throws {
        for _ in 0..<steps {
            guard let step = dice.pick(Step.all) else { return }
            // Nothing is signed at the moment at which something else was.
            _ = try garden.store.advance(seconds: Int64(2 + dice.number(below: 60)))
            story.append("\(step) at \(garden.store.now.rfc3339)")
            try await take(step)
            try check()
        }
        story.append("the end")
        try await settle()
    }

    private func take(_ step: Step) async throws {
        switch step {
        case .buy: try await buy()
        case .launch: try await launch(somebody()) { try await $0.resume() }
        case .restore:
            let person = somebody()
            try garden.store.restoreCompletedTransactions(account: person.account)
            try await launch(person) { try await $0.resume() }
        case .deliver:
            if let notification = dice.pick(try garden.store.notifications()) {
                await deliver(notification.signedPayload)
            }
        case .arriveTogether: try arriveTogether()
        case .tellToken: if dice.happens(30) { try await tellTokens() }
        case .repeatPost:
            if let post = dice.pick(posts) { _ = try? await redeem(post.proof, for: post.user) }
        case .refund: try? sale().map { try garden.store.refund($0) }
        case .reverse: try? sale().map { try garden.store.reverseRefund(of: $0) }
        case .passTime:
            // An answer is kept for a day.
            while !openSpendings.isEmpty {
                for index in processes.indices where processes[index].isStopped { processes[index].restart() }
                try await trySpendings()
            }
            _ = try garden.store.advance(seconds: Int64(86_400 * dice.number(below: 20)))
        case .stopRenewing: try? sale().map { try garden.store.setAutoRenew(false, of: $0) }
        case .spend: try await spend()
        case .takeBack, .reinstate: try await change(step == .takeBack)
        case .give: try await give()
        case .restart: processes[dice.number(below: processes.count)].restart()
        case .approve:
            let waiting = try garden.store.transactions().filter { $0.transaction.state == .deferred }
            if let one = dice.pick(waiting) { _ = try garden.store.approve(one.transaction.identifier) }
        }
    }

    private func somebody() -> Person { people[dice.number(below: people.count)] }

    private func sale() throws -> String? {
        dice.pick(try people.flatMap { try garden.store.history(of: $0.account) })?.transactionIdentifier
    }

    private func buy() async throws {
        let person = somebody()
        let user = signedIn(on: person)
        guard let product = dice.pick(Self.products) else { return }
        let payment = Payment(
            productIdentifier: product, quantity: product == "garden.seeds" ? 1 + dice.number(below: 3) : 1,
            appAccountToken: dice.happens(60) ? people.first { $0.user == user }?.token : nil)
        let outcome = dice.happens(80) ? PaymentOutcome.purchased : .deferred
        try await launch(person, as: user, outcome: outcome) { _ = try await $0.buy(payment) }
    }

    private func signedIn(on person: Person) -> User {
        sharesDevices && dice.happens(20) ? somebody().user : person.user
    }

    /// Runs the app until it is done, or killed.
    private func launch(
        _ person: Person,
        as user: User? = nil,
        outcome: PaymentOutcome = .purchased,
        crashes: Int? = nil,
        sendsReceipt: Bool? = nil,
        _ body: (PaymentQueueObserver) async throws -> Void
    ) async throws {
        let user = user ?? signedIn(on: person)
        let line = SimulatedStoreLine(
            store: garden.store, account: person.account, outcome: outcome,
            sendsReceipt: sendsReceipt ?? dice.happens(50), dice: dice, crashes: crashes ?? 5)
        do {
            try await body(
                PaymentQueueObserver(store: line, service: SimulatedServiceLine(simulation: self, user: user)))
        } catch is Crash {
            story.append("\(user)'s app was killed")
        } catch is NoAnswer {
            story.append("\(user)'s app had no answer")
        }
    }

    // MARK: The network

    private var isMended = false

    /// What a device sends: it may be lost, its answer may be, and it may arrive twice.
    func send(_ proof: Proof, for user: User) async throws -> Redemption {
        let bytes = Array(proof.text.utf8)
        posts.append((bytes, user))
        if !isMended, dice.happens(10) { throw NoAnswer() }
        if !isMended, dice.happens(10) { _ = try? await redeem(bytes, for: user) }
        let redemption = try await redeem(bytes, for: user)
        if !isMended, dice.happens(10) { throw NoAnswer() }
        return redemption
    }

    private func redeem(_ proof: [UInt8], for user: User) async throws -> Redemption {
        present(proof, for: user)
        let service = processes[dice.number(below: processes.count)].service
        do {
            let redemption = try await service.redeem(proof, for: user)
            acknowledge(redemption, for: user)
            return redemption
        } catch is StorageFault {
            // What is not stored is answered with 5xx, of which a device makes nothing.
            throw NoAnswer()
        } catch let error as RedemptionError {
            throw ServiceRefusal(code: error.code, message: error.message)
        }
    }

    private func present(_ proof: [UInt8], for user: User) {
        for purchase in (try? processes[0].service.verify(proof))?.purchases ?? [] {
            presenters[purchase.originalTransactionIdentifier, default: []].insert(user)
        }
    }

    private func deliver(_ payload: String) async {
        for _ in 0..<(dice.happens(20) ? 2 : 1) {
            _ = try? await processes[dice.number(below: processes.count)].service.receive(
                notification: Array(payload.utf8))
        }
    }

    /// What arrives together shares a commit: notifications, and what devices have sent and send again.
    private func arriveTogether() throws {
        let service = processes[dice.number(below: processes.count)].service
        let notifications = dice.shuffle(try garden.store.notifications()).prefix(3).compactMap {
            try? service.notification(in: Array($0.signedPayload.utf8)).request
        }
        let redemptions = (0..<3).compactMap { _ in dice.pick(posts) }.compactMap { post in
            present(post.proof, for: post.user)
            guard let purchases = try? service.purchases(in: post.proof),
                let request = try? service.request(purchases, for: post.user, by: .user)
            else { return nil as (user: User, purchases: EntitlementService.VerifiedPurchases, request: ClaimRequest)? }
            return (post.user, purchases, request)
        }
        let requests = notifications + redemptions.map(\.request)
        guard !requests.isEmpty else { return }
        let groups = dice.happens(50) ? [requests] : requests.map { [$0] }
        let batches = groups.map(service.claims.part(of:))
        var errors = service.ledger.storage.commit(batches.map(\.part))[...]
        let answers = batches.flatMap { part, results in
            defer { errors = errors.dropFirst(part.count) }
            return results(Array(errors.prefix(part.count)))
        }
        for (answer, redeemed) in zip(answers.dropFirst(notifications.count), redemptions) {
            guard let answer = try? answer.get(),
                let redemption = try? service.redemption(of: redeemed.purchases, answered: answer)
            else { continue }
            acknowledge(redemption, for: redeemed.user)
        }
    }

    private func acknowledge(_ redemption: Redemption, for user: User) {
        for line in redemption.transactions where line.mayFinish { acknowledged[line.transactionId] = user }
    }

    /// The service is told of the tokens that the team has made.
    private func tellTokens() async throws {
        for person in people {
            guard try await insist({ try await $0.setAppAccountToken(person.token, of: person.user) }) == .set else {
                throw SimulationError.broken("\(person.user) has another account token")
            }
        }
    }

    // MARK: The team

    private func spend() async throws {
        let index = dice.number(below: people.count)
        let service = processes[0].service
        let request = Spending.Request(
            idempotencyKey: dice.randomness.digits(16, startingWith: "1"), digest: dice.randomness.bytes(32))
        openSpendings.append(
            (
                index,
                service.newSpending(
                    of: 1 + dice.number(below: 15), from: "seeds", reason: "sown", by: "team", for: request)
            ))
        try await trySpendings()
    }

    /// Asks again for whatever has had no answer.
    private func trySpendings() async throws {
        let open = openSpendings
        openSpendings = []
        for (person, spending) in open {
            let user = people[person].user
            let service = processes[dice.number(below: processes.count)].service
            do {
                _ = try await service.spend(spending, for: user)
                if !isMended, dice.happens(20) {
                    openSpendings.append((person, spending))
                } else {
                    spent[user.name, default: 0] += spending.amount
                }
            } catch BalanceError.balanceTooLow {
            } catch {
                openSpendings.append((person, spending))
            }
        }
    }

    private func change(_ takesBack: Bool) async throws {
        guard let identifier = try sale() else { return }
        for person in people {
            let changed = try await insist { service -> RedeemedTransaction? in
                do {
                    return takesBack
                        ? try await service.revoke(
                            transaction: identifier, origin: nil, of: person.user, reason: "a fraud", by: "team")
                        : try await service.reinstate(transaction: identifier, origin: nil, of: person.user, by: "team")
                } catch is GrantError {
                    return nil
                }
            }
            guard let changed else { continue }
            takenBack.remove(changed.originalTransactionIdentifier)
            if takesBack { takenBack.insert(changed.originalTransactionIdentifier) }
        }
    }

    private func give() async throws {
        let person = somebody()
        let grant = try processes[0].service.newGrant(
            of: Item(collection: "gate", number: 1), reason: "a present", endsAt: nil, by: "team")
        let answer = KeptAnswer(requestDigest: dice.randomness.bytes(32), bytes: [])
        let key = IdempotencyKey(caller: "team", key: grant.identifier)
        _ = try await insist { try await $0.give(grant, to: person.user, keeping: answer, for: key) }
        given[person.user.name, default: []].append(grant.item)
    }

    /// Asks again, as a back end does, until there is an answer; somebody sees to the disk meanwhile.
    private func insist<Value>(_ ask: (EntitlementService) async throws -> Value) async throws -> Value {
        while true {
            let index = dice.number(below: processes.count)
            do {
                return try await ask(processes[index].service)
            } catch  where error is StorageFault || error is LedgerError {
                processes[index].restart()
            }
        }
    }

    // MARK: The end

    /// Everything that failed is mended; everybody does what is left to do.
    private func settle() async throws {
        isMended = true
        for index in processes.indices {
            processes[index].faults = 0
            processes[index].restart()
        }
        try await tellTokens()
        for queued in try garden.store.transactions() where queued.transaction.state == .deferred {
            _ = try garden.store.decline(queued.transaction.identifier)
        }
        try await launchEverybody()
        for notification in dice.shuffle(try garden.store.notifications()) { await deliver(notification.signedPayload) }
        _ = try garden.store.advance(seconds: 2)
        let api = AppStoreServerAPI(store: garden.store)
        for sale in try people.flatMap({ try garden.store.history(of: $0.account) }) {
            let statement = try api.transactionInfo(sale.transactionIdentifier).signedTransactionInfo
            _ = try await processes[0].service.receive(statement: Array(statement.utf8))
        }
        // Whose a purchase is that names somebody may be known only now; the queue delivers it again at every launch.
        try await launchEverybody()
        try await trySpendings()
        try check()
        try checkEnd()
    }

    /// Each device, with each user who may be signed in on it.
    private func launchEverybody() async throws {
        for person in people {
            let users = sharesDevices ? people.map(\.user) : [person.user]
            for user in users {
                _ = try garden.store.advance(seconds: 2)
                // A receipt has all that is left in it, a signed transaction says whose it is.
                for sendsReceipt in [false, true] {
                    try await launch(person, as: user, crashes: 0, sendsReceipt: sendsReceipt) {
                        try await $0.resume()
                    }
                }
            }
        }
    }
}

/// What must hold does not.
enum SimulationError: Error {
    case broken(String)
}
