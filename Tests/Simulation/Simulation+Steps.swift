import Commerce
import Figures
import Store
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
        for _ in 0..<steps {
            guard let step = dice.pick(Step.all) else { return }
            // Two statements are never signed at the same moment.
            _ = try garden.store.advance(seconds: Int64(2 + dice.number(below: 60)))
            story.append("\(step) at \(garden.store.now.rfc3339)")
            try await take(step)
            try check()
        }
        story.append("the end")
        try await settle()
    }

    func take(_ step: Step) async throws {
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
            // The ledger keeps an answer for a day, so all open requests must end first.
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
        case .changeSettings: try changeSettings()
        case .mendBilling: try? sale().map { try garden.store.resolveBillingIssue(of: $0) }
        case .extend: try? sale().map { try extendRenewalDate(of: $0) }
        case .raisePrice: try? sale().map { try raisePrice(of: $0) }
        case .share: try? sale().map { _ = try garden.store.share($0, with: somebody().account) }
        case .endSharing: try? sale().map { try garden.store.revokeFamilySharing(of: $0) }
        case .sumUp: try await FigureService(ledger: ledger, clock: garden.store.clock).rollUp()
        }
    }

    func somebody() -> Person { people[dice.number(below: people.count)] }

    func sale() throws -> String? {
        dice.pick(try people.flatMap { try garden.store.history(of: $0.account) })?.transactionIdentifier
    }
}
