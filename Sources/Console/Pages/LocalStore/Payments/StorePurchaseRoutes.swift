import AppStore
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// Purchases at the local store, and the steps of their payments.
struct StorePurchaseRoutes: Sendable {
    let redemption: StoreRedemption

    func add(to pages: StorePages) {
        pages.get("store/buy") { request, context, store in
            let account = try request.query("account", upTo: Store.maximumAccountLength)
            let product = try request.query("product")
            let accounts = try store.read { try $0.transactions.recentAccounts() }
            return StorePurchasePage(
                context: context, products: store.configuration.products, accounts: accounts,
                account: account ?? accounts.first ?? "alice", product: product
            ).page
        }
        pages.pages.post("store/buy", .store) { _, context in try await buy(context) }
        pages.pages.get("store/queue/:payment", .store) { [store = pages.store] request, context in
            let identifier = try Self.identifier(context)
            let refusal = try request.query("refused", upTo: 64)
            let (queued, effect) = try await BlockingWork.run {
                try store.read { try ($0.queued(identifier), $0.effect(of: identifier)) }
            }
            var owners: [KnownPurchase] = []
            if let sold = queued.transaction.purchase {
                owners = try await redemption.owners(of: sold.transactionIdentifier)
            }
            return Self.page(of: queued, StorePurchaseWay(context, queued, effect: effect, owners: owners), refusal)
        }
        for action in PaymentAction.allCases {
            pages.post(RouterPath("store/queue/:payment/\(action.rawValue)")) { context, store in
                // A resolved payment continues as another transaction of the queue.
                let changed = try store.perform(action, on: try Self.identifier(context))
                return .storePayment(changed.transaction.identifier, done: action.notice)
            }
        }
    }

    private static func identifier(_ context: ConsoleContext) throws -> Int64 {
        guard let number = Int64(try context.parameters.text("payment")) else { throw Problem.pathUnknown }
        return number
    }

    /// A payment of the queue, with the way of its purchase.
    ///
    /// - Parameter refusal: The code with which the service refused the proof; nil if it did not.
    private static func page(of queued: QueuedTransaction, _ way: StorePurchaseWay, _ refusal: String?) -> Page {
        Page("Payment \(queued.transaction.identifier)", section: .localStore) {
            LocalStoreTab.links(nil)
            if let refusal {
                div(.class("problem"), .role("alert")) {
                    p {
                        "The store sold the product, but the service refused the proof:"
                        plain(" ")
                        Shown.identifier(refusal)
                    }
                }
            }
            LocalStoreTab.live {
                section(.class("card")) { Facts.list(facts(of: queued, way.effect)) }
                StoreRows.buttons(queued, way.context)
                way.steps
            }
            way.form
        }
    }

    @FactsBuilder private static func facts(of queued: QueuedTransaction, _ effect: PurchaseEffect?) -> [Fact] {
        let payment = queued.transaction.payment
        fact("State") { StoreWords.badge(queued) }
        fact("Effect") { effect.map(StoreWords.sentence) ?? Shown.nothing }
        fact("Account") { StoreRows.account(queued.account) }
        fact("Product") { StoreRows.product(payment.productIdentifier, quantity: payment.quantity) }
        fact("Offer") {
            payment.offer.map { spaced($0.kind.title, Shown.identifier($0.identifier)) } ?? Shown.nothing
        }
        fact("Account token") { Shown.identifier(payment.appAccountToken?.lowercasedString) }
    }

    /// Buys, and redeems the purchase for a user if the form names one.
    private func buy(_ context: ConsoleContext) async throws -> ConsolePath {
        let actor = try context.requiredMember.actor
        let form = try StorePurchaseForm(context.form)
        var token = form.token
        if token == nil, let user = form.user { token = try await redemption.entitlements.appAccountToken(of: user) }
        let payment = try await BlockingWork.run { [store = redemption.store, token] in
            let added = try store.add(form.payment(token: token), account: form.account, outcome: form.outcome)
            _ = try store.process(account: form.account)
            return try store.read { try $0.queued(added.identifier).transaction }
        }
        var refusal: String?
        if let user = form.user, let sold = payment.purchase {
            do {
                try await redemption.redeem(sold.transactionIdentifier, for: user, by: actor)
            } catch let error as RedemptionError {
                // The purchase has happened, so its page shows the refusal.
                refusal = error.code
            }
        }
        return ConsolePath(
            "store", "queue", String(payment.identifier),
            query: ["done": payment.purchase == nil ? nil : Notice.bought.rawValue, "refused": refusal])
    }
}
