import Catalog
import Entitlements
import PlayStore
import Proofs
import TestSupport
import Vocabulary

/// The subscriptions of the devices at Google Play.
extension Simulation {
    private static let subscriptionProducts = ["garden.basic.monthly", "garden.premium.monthly"]
    /// What customers, banks and Google do with a subscription.
    private static let subscriptionActions: [SubscriptionAction] = [
        .cancel, .restore, .declinePayments, .acceptPayments, .refund, .chargeback,
    ]

    func subscribe(at play: SimulatedPlay) async throws {
        let dice = play.dice
        guard let person = dice.pick(people), let product = dice.pick(Self.subscriptionProducts) else { return }
        var order = PlayPurchaseOrder(
            packageName: play.app.bundleIdentifier, productId: product, account: person.account)
        if dice.happens(50) { order.obfuscatedAccountId = person.token.uuidString }
        // The account may have the subscription already.
        guard let bought = try? play.perform({ try $0.subscribe(order) }) else { return }
        playSubscriptions.append(
            SimulatedPlayPurchase(
                number: bought.number, token: bought.token, app: play.app.bundleIdentifier, user: person.user))
        if dice.happens(60) { await presentSubscription(at: play) }
    }

    /// Sends the token of a subscription as the app does.
    func presentSubscription(at play: SimulatedPlay) async {
        guard let one = play.dice.pick(playSubscriptions) else { return }
        let process = processes[play.dice.number(below: processes.count)]
        do {
            try await play.redeem(one.token, for: one.user, at: process.service)
            answers.append("\(one.user) redeemed subscription \(one.number)")
        } catch {
            answers.append("subscription \(one.number): \((error as? any CodedError)?.code ?? "failed")")
        }
    }

    func changeSubscription(at play: SimulatedPlay) throws {
        guard let one = play.dice.pick(playSubscriptions), let action = play.dice.pick(Self.subscriptionActions) else {
            return
        }
        // It may have ended, or be in another state.
        let changed = try? play.perform { try $0.perform(action, on: one.number) }
        answers.append("subscription \(one.number): \(action.rawValue), \(changed?.state.rawValue ?? "refused")")
    }

    /// Presents all subscriptions as apps that are launched, and asks about each.
    func settleSubscriptions() async throws {
        guard let play = googlePlay else { return }
        for one in playSubscriptions {
            let subscription = try play.perform { try $0.subscription(one.number) }
            guard !subscription.isEnded else { continue }
            try await play.redeem(one.token, for: one.user, at: processes[0].service)
        }
        for one in playSubscriptions {
            // Google Play forgets a subscription 60 days after its end.
            let outcomes = try? await play.refresh(one.token, by: processes[0].service)
            answers.append("subscription \(one.number) at the end: \(outcomes.map { "\($0)" } ?? "no answer")")
        }
    }

    /// The items of the subscriptions at the Play that a person has at a moment, as far as they are paid now.
    func itemsOfSubscriptions(of person: Person, at moment: Timestamp) throws -> [Item] {
        guard let play = googlePlay else { return [] }
        return try playSubscriptions.filter { $0.user == person.user }.compactMap { one in
            let subscription = try play.perform { try $0.subscription(one.number) }
            guard [.active, .inGracePeriod, .canceled].contains(subscription.state), moment < subscription.expiryTime,
                case .itemWhilePaid(let item)? = play.app.garden.catalog.benefit(of: subscription.terms.productId)
            else { return nil }
            return item
        }
    }

    /// The subscriptions at the Play, for the trace and a report.
    func subscriptionsAtPlay() throws -> [String] {
        guard let play = googlePlay else { return [] }
        return try playSubscriptions.map { one in
            let subscription = try play.perform { try $0.subscription(one.number) }
            return "subscription \(one.number) of \(one.user): \(subscription.terms.productId) \(one.token) "
                + "\(subscription.state.rawValue) until \(subscription.expiryTime.rfc3339)"
        }
    }
}
