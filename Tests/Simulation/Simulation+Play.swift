import Catalog
import Entitlements
import PlayStore
import Proofs
import TestSupport
import Vocabulary

/// The purchases of the devices at Google Play, beside those at the App Stores.
extension Simulation {
    enum PlayStep: CaseIterable {
        case buy, present, notify, acknowledge, refund, decidePayment, reconcile, ask, applyLate
        case subscribe, presentSubscription, changeSubscription

        /// The steps, each as often as its weight.
        static let all = allCases + [.buy, .buy, .present, .present, .acknowledge]
    }

    /// The longest time between two looks of the service for acknowledgements that are due, in seconds.
    private static let acknowledgementInterval: Int64 = 3600
    /// The time before its deadline in which a grant may come too late to be acknowledged, in seconds. The service looks 24 times.
    private static let shortestNotice: Int64 = 86_400

    func takePlayStep() async throws {
        guard let play = googlePlay, let step = play.dice.pick(PlayStep.all) else { return }
        story.append("\(step) at the Play")
        switch step {
        case .buy: try await buy(at: play)
        case .present: if let one = play.dice.pick(playPurchases) { try await present(one, from: play) }
        case .notify:
            if let one = play.dice.pick(try play.perform { try $0.notifications() }) { await deliver(one, from: play) }
        case .acknowledge: await acknowledge(at: play)
        case .refund:
            if let one = try somePurchase(.purchased, at: play) { _ = try play.perform { try $0.refund(one) } }
        case .decidePayment:
            if let one = try somePurchase(.pending, at: play) {
                let isMade = play.dice.happens(70)
                _ = try play.perform { isMade ? try $0.complete(one) : try $0.cancel(one) }
            }
        case .reconcile: try await reconcile(with: play)
        case .ask:
            guard let one = play.dice.pick(playPurchases),
                let answer = try? await play.ask(one.token, by: someService(play))
            else { return }
            lateAnswers.append(answer)
        case .applyLate: await applyLateAnswer(of: play)
        case .subscribe: try await subscribe(at: play)
        case .presentSubscription: await presentSubscription(at: play)
        case .changeSubscription: try changeSubscription(at: play)
        }
    }

    /// The number of a purchase in a state; nil if there is none.
    private func somePurchase(_ state: OneTimePurchase.State, at play: SimulatedPlay) throws -> Int64? {
        let purchases = try play.purchases()
        return play.dice.pick(playPurchases.map(\.number).filter { purchases[$0]?.state == state })
    }

    private func someService(_ play: SimulatedPlay) -> EntitlementService {
        processes[play.dice.number(below: processes.count)].service
    }

    private func buy(at play: SimulatedPlay) async throws {
        let dice = play.dice
        guard let person = dice.pick(people), let product = dice.pick(SimulatedPlay.products) else { return }
        let isOnOthersDevice = sharesDevices && dice.happens(20)
        let user = isOnOthersDevice ? people[dice.number(below: people.count)].user : person.user
        var order = PlayPurchaseOrder(
            packageName: play.app.bundleIdentifier, productId: product, account: person.account)
        if product == "garden.seeds" { order.quantity = 1 + dice.number(below: 3) }
        order.isPending = dice.happens(15)
        if dice.happens(50) { order.obfuscatedAccountId = people.first { $0.user == user }?.token.uuidString }
        // The account may own the product already, or have a pending payment for it.
        guard let bought = try? play.perform({ try $0.buy(order) }) else { return }
        let purchase = SimulatedPlayPurchase(
            number: bought.number, token: bought.token, app: play.app.bundleIdentifier, user: user)
        playPurchases.append(purchase)
        if dice.happens(60) { try await present(purchase, from: play) }
    }

    /// Sends a token as the app does. The request or its answer may be lost, and the request may arrive twice.
    private func present(_ purchase: SimulatedPlayPurchase, from play: SimulatedPlay) async throws {
        if !isMended, play.dice.happens(10) { return }
        for _ in 0..<(play.dice.happens(10) ? 2 : 1) {
            let isLost = !isMended && play.dice.happens(10)
            do {
                try await play.redeem(purchase.token, for: purchase.user, at: someService(play))
                answers.append("\(purchase.user) redeemed purchase \(purchase.number)")
                try noteGrants()
                guard !isLost, try play.purchases()[purchase.number]?.state == .purchased else { continue }
                answeredAtPlay.insert(purchase.number)
            } catch {
                answers.append("purchase \(purchase.number): \((error as? any CodedError)?.code ?? "failed")")
                guard !isMended else {
                    throw SimulationError.broken("purchase \(purchase.number) is not redeemed: \(error)")
                }
            }
        }
    }

    private func deliver(_ notification: QueuedNotification, from play: SimulatedPlay) async {
        for _ in 0..<(play.dice.happens(20) ? 2 : 1) {
            let outcomes = try? await play.deliver(notification, to: someService(play))
            answers.append("notification \(notification.number): \(outcomes.map { "\($0)" } ?? "no answer")")
            try? noteGrants()
        }
    }

    /// Has any process apply one of the answers that were stored late, as the service that asked would.
    private func applyLateAnswer(of play: SimulatedPlay) async {
        guard !lateAnswers.isEmpty else { return }
        let answer = lateAnswers.remove(at: play.dice.number(below: lateAnswers.count))
        let outcomes = try? await play.apply(answer, by: someService(play))
        answers.append("a late answer was applied: \(outcomes.map { "\($0)" } ?? "no answer")")
        try? noteGrants()
    }

    /// Notes the time of new grants. The ledger has that of a process whose clock may be wrong.
    private func noteGrants() throws {
        guard let names = try ledger.readNow({ try $0.tokenNames }) else { return }
        let owners = try owners()
        for one in playPurchases where owners[one.key(names)] != nil && grantedAtPlay[one.number] == nil {
            grantedAtPlay[one.number] = now
        }
    }

    /// Has a process acknowledge what is due. One that has stopped is started again. It may stop between any two steps.
    private func acknowledge(at play: SimulatedPlay) async {
        let index = play.dice.number(below: processes.count)
        if processes[index].isStopped { processes[index].restart() }
        await lookAtClocks()
        let isReachable = isMended || !play.dice.happens(10)
        do {
            try await play.acknowledge(by: processes[index].service, isReachable: isReachable)
        } catch {
            answers.append("no acknowledgements: \((error as? any CodedError)?.code ?? "failed")")
        }
    }

    /// Asks until there is an answer, as the schedule does.
    private func reconcile(with play: SimulatedPlay) async throws {
        var failure: (any Error)?
        for _ in 0..<100 {
            let index = play.dice.number(below: processes.count)
            do {
                answers += try await play.reconcile(by: processes[index].service)
                return
            } catch {
                failure = error
                processes[index].restart()
                await lookAtClocks()
            }
        }
        throw SimulationError.broken("the service cannot reconcile with the Play: \(failure.map { "\($0)" } ?? "-")")
    }

    /// Lets time pass. While the Play awaits acknowledgements, the service looks for those that are due.
    func passTime(seconds: Int64) async throws {
        guard let play = googlePlay else { return try advance(seconds: seconds) }
        var rest = seconds
        while rest > 0, try awaitsAcknowledgement(play) {
            let step = min(rest, Self.acknowledgementInterval)
            try advance(seconds: step)
            rest -= step
            await acknowledge(at: play)
        }
        try advance(seconds: rest)
        // The Play lists what was voided in the last 30 days.
        try await reconcile(with: play)
    }

    private func awaitsAcknowledgement(_ play: SimulatedPlay) throws -> Bool {
        try play.purchases().values.contains { $0.acknowledgementDeadline != nil }
    }

    /// Completes all open work at the Play, without faults.
    func settlePlay() async throws {
        guard let play = googlePlay else { return }
        for (number, purchase) in try play.purchases().sorted(by: { $0.key < $1.key }) where purchase.state == .pending
        {
            _ = try play.perform { try $0.cancel(number) }
        }
        try advance(seconds: 2)
        while !lateAnswers.isEmpty { await applyLateAnswer(of: play) }
        let purchases = try play.purchases()
        // An app that is launched sees what its account has not acknowledged.
        for one in playPurchases where purchases[one.number]?.acknowledgementDeadline != nil {
            try await present(one, from: play)
        }
        for notification in play.dice.shuffle(try play.perform { try $0.notifications() }) {
            await deliver(notification, from: play)
        }
        // The pause after an attempt without a result has an hour at most.
        for _ in 0..<3 {
            await acknowledge(at: play)
            try advance(seconds: 3600)
        }
        try await reconcile(with: play)
    }
}

/// The invariants of the purchases at the Play.
extension Simulation {
    /// After every step: what was answered is its user's alone, and nothing is acknowledged that is not granted.
    func checkPlay() throws {
        guard let play = googlePlay else { return }
        try noteGrants()
        let (owners, purchases) = (try owners(), try play.purchases())
        let names = try ledger.readNow { try $0.tokenNames }
        for one in playPurchases {
            let owner = names.flatMap { owners[one.key($0)] }
            guard owner == nil || owner == one.user else {
                throw SimulationError.broken("purchase \(one.number) of \(one.user) is \(owner?.name ?? "nobody")'s")
            }
            guard owner != nil || !answeredAtPlay.contains(one.number) else {
                throw SimulationError.broken("purchase \(one.number) was answered to \(one.user), and is nobody's")
            }
            guard owner != nil || purchases[one.number]?.isAcknowledged != true else {
                throw SimulationError.broken("purchase \(one.number) is acknowledged, and is nobody's")
            }
        }
    }

    /// At the end: what is paid is owned, and was acknowledged or consumed in time. What was refunded is taken back.
    func checkPlayEnd() throws {
        guard let play = googlePlay else { return }
        let purchases = try play.purchases()
        let names = try ledger.readNow { try $0.tokenNames }
        for one in playPurchases {
            let name = names?.name(of: one.token)
            guard let purchase = purchases[one.number] else {
                throw SimulationError.broken("the Play has no purchase \(one.number)")
            }
            let kept = try ledger.readNow { try $0.transactions(of: one.user, before: nil, limit: 10_000) }
                .filter { $0.origin == .localPlayProduction && $0.transactionIdentifier == name }
            func broken(_ problem: String) -> SimulationError {
                .broken(
                    "purchase \(one.number) of \(purchase.terms.productId) \(problem): it is \(purchase.state), the "
                        + "ledger has \(kept.map { "\($0.redeemedAt.rfc3339) to \($0.revocationDate?.rfc3339 ?? "-")" })"
                )
            }
            guard kept.count <= 1 else { throw broken("is granted twice") }
            switch purchase.state {
            case .pending: throw broken("is pending")
            case .purchased:
                guard let transaction = kept.first, transaction.revocationDate == nil else { throw broken("is lost") }
                let isConsumable = purchase.terms.productId == "garden.seeds"
                guard purchase.isAcknowledged, purchase.isConsumed == isConsumable else {
                    throw broken("is not acknowledged")
                }
            case .canceled:
                guard kept.allSatisfy({ $0.revocationDate != nil }) else { throw broken("is not taken back") }
                guard purchase.orderId != nil || kept.isEmpty else { throw broken("was never paid") }
                guard let refund = purchase.refunds.first(where: { $0.reason == .unacknowledgedPurchase }) else {
                    continue
                }
                let latest = refund.time.adding(seconds: -Self.shortestNotice)
                guard grantedAtPlay[one.number].map({ $0 > latest }) ?? true else {
                    throw broken("was not acknowledged in time")
                }
            }
        }
    }

    /// The purchases at the Play that count for a person.
    private func paidAtPlay(_ person: Person) throws -> [OneTimePurchase] {
        guard let play = googlePlay else { return [] }
        let purchases = try play.purchases()
        return playPurchases.filter { $0.user == person.user }.compactMap { purchases[$0.number] }
            .filter { $0.state == .purchased }
    }

    /// The items that a person has bought at the Play.
    func itemsFromPlay(of person: Person) throws -> [Item] {
        try paidAtPlay(person).compactMap { purchase in
            guard case .item(let item)? = benefit(of: purchase) else { return nil }
            return item
        }
    }

    /// The seeds that a person has bought at the Play.
    func seedsFromPlay(of person: Person) throws -> Int {
        try paidAtPlay(person).reduce(0) { sum, purchase in
            guard case .credit(let credit)? = benefit(of: purchase) else { return sum }
            return sum + credit.amount * purchase.quantity
        }
    }

    private func benefit(of purchase: OneTimePurchase) -> Benefit? {
        googlePlay?.app.garden.catalog.benefit(of: purchase.terms.productId)
    }

    /// The purchases at the Play, for the trace.
    func playState() throws -> [String] {
        guard let play = googlePlay else { return [] }
        return try subscriptionsAtPlay()
            + play.purchases().sorted { $0.key < $1.key }.map { number, purchase in
                "purchase \(number): \(purchase.terms.productId) \(purchase.token) \(purchase.orderId ?? "-") "
                    + "\(purchase.state)\(purchase.isAcknowledged ? " acknowledged" : "")"
                    + "\(purchase.isConsumed ? " consumed" : "") \(purchase.refunds.map { "\($0.time.rfc3339)" })"
            }
    }
}
