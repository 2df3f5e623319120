import AppStore
import Entitlements
import Proofs
import TestSupport

/// The steps of a simulation.
extension Simulation {
    enum Step: CaseIterable {
        case buy, launch, restore, deliver, arriveTogether, repeatPost, tellToken, refund, reverse, passTime,
            stopRenewing
        case spend, takeBack, reinstate, give, restart, approve
        case changeSettings, mendBilling, extend, raisePrice, share, endSharing, sumUp

        /// The steps, each as often as its weight.
        static let all = allCases + [.buy, .buy, .buy, .buy, .launch, .launch, .deliver]
    }

    func play(steps: Int) async throws {
        guard let googlePlay else { return try await live(steps: steps) }
        try await googlePlay.listening { try await self.live(steps: steps) }
    }

    private func live(steps: Int) async throws {
        for _ in 0..<steps {
            guard let step = dice.pick(Step.all) else { return }
            // Two statements are never signed at the same moment.
            try beginIdentifiers()
            try advance(seconds: Int64(2 + dice.number(below: 60)))
            try beginIdentifiers()
            let line = story.count
            story.append("\(step) at \(now.rfc3339)")
            await moveClocks()
            try await take(step)
            try await takePlayStep()
            try await takeAcmeStep()
            try check()
            try checkPlay()
            try checkAcme()
            try await checkKeptAnswers()
            try addToTrace(from: line)
        }
        let line = story.count
        story.append("the end")
        let made = processes.reduce(0) { $0 + $1.answers.made.load(ordering: .relaxed) }
        guard made < answersGiven || answersGiven == 0 else { throw SimulationError.broken("no answer was kept") }
        try await settle()
        try addToTrace(from: line)
    }

    func take(_ step: Step) async throws {
        switch step {
        case .buy: try await buy()
        case .launch: try await launch(somebody(), in: someApp()) { try await $0.resume() }
        case .restore:
            let (person, app) = (somebody(), someApp())
            try app.store.restoreCompletedTransactions(account: person.account)
            try await launch(person, in: app) { try await $0.resume() }
        case .deliver:
            if let payload = dice.pick(try notifications()) { await deliver(payload) }
        case .arriveTogether: try await arriveTogether()
        case .tellToken: if dice.happens(30) { try await tellTokens() }
        case .repeatPost:
            if let post = dice.pick(posts) { _ = try? await redeem(post) }
        case .refund: try? sale().map { try $0.app.store.refund($0.transactionIdentifier) }
        case .reverse: try? sale().map { try $0.app.store.reverseRefund(of: $0.transactionIdentifier) }
        case .passTime:
            // The ledger keeps an answer for a day, so all open requests must end first.
            while !openSpendings.isEmpty {
                for index in processes.indices where processes[index].isStopped { processes[index].restart() }
                try await trySpendings()
            }
            try await passTime(seconds: Int64(86_400 * dice.number(below: 20)))
        case .stopRenewing:
            try? sale().map { try $0.app.store.setAutoRenew(false, of: $0.transactionIdentifier) }
        case .spend: try await spend()
        case .takeBack, .reinstate: try await change(step == .takeBack)
        case .give: try await give()
        case .restart: processes[dice.number(below: processes.count)].restart()
        case .approve:
            let store = someApp().store
            let waiting = try store.transactions().filter { $0.transaction.state == .deferred }
            if let one = dice.pick(waiting) { _ = try store.approve(one.transaction.identifier) }
        case .changeSettings: try changeSettings()
        case .mendBilling:
            try? sale().map { try $0.app.store.resolveBillingIssue(of: $0.transactionIdentifier) }
        case .extend: try? sale().map { try extendRenewalDate(of: $0) }
        case .raisePrice: try? sale().map { try raisePrice(of: $0) }
        case .share:
            try? sale().map { _ = try $0.app.store.share($0.transactionIdentifier, with: somebody().account) }
        case .endSharing:
            try? sale().map { try $0.app.store.revokeFamilySharing(of: $0.transactionIdentifier) }
        case .sumUp: try await ledger.figures(clock: apps[0].store.clock).rollUp()
        }
    }

    func somebody() -> Person { people[dice.number(below: people.count)] }

    func someApp() -> SimulatedApp { apps[dice.number(below: apps.count)] }

    /// A sale, often one of an identifier that a sale of the other app has as well.
    func sale() throws -> SimulatedSale? {
        let sales = try sales()
        let counts = Dictionary(sales.map { ($0.transactionIdentifier, 1) }, uniquingKeysWith: +)
        let shared = sales.filter { counts[$0.transactionIdentifier, default: 0] > 1 }
        return dice.pick(dice.happens(50) && !shared.isEmpty ? shared : sales)
    }
}
