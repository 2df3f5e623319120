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
            let accounts = try store.recentAccounts()
            let account = try request.query("account", upTo: Store.maximumAccountLength)
            return StorePurchasePage(
                context: context, products: store.configuration.products, accounts: accounts,
                account: account ?? accounts.first ?? "alice", product: try request.query("product")
            ).page
        }
        pages.pages.post("store/buy", .store) { _, context in try await buy(context) }
        pages.pages.get("store/queue/:payment", .store) { [store = pages.store] request, context in
            let identifier = try Self.identifier(context)
            let refusal = try request.query("refused", upTo: 64)
            let (queued, effect) = try await BlockingWork.run {
                (try store.queuedTransaction(identifier), try store.effect(of: identifier))
            }
            let sold = queued.transaction.purchase?.transactionIdentifier
            var owners: [KnownPurchase] = []
            if let sold { owners = try await redemption.owners(of: sold) }
            return StorePaymentPage(context: context, queued: queued, effect: effect, owners: owners, refusal: refusal)
                .page
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

    /// Buys, and redeems the purchase for a user if the form names one.
    private func buy(_ context: ConsoleContext) async throws -> ConsolePath {
        let actor = try context.requiredMember.actor
        let form = try StorePurchaseForm(context.form)
        var token = form.token
        if token == nil, let user = form.user { token = try await redemption.entitlements.appAccountToken(of: user) }
        let payment = try await BlockingWork.run { [store = redemption.store, token] in
            let added = try store.add(form.payment(token: token), account: form.account, outcome: form.outcome)
            _ = try store.process(account: form.account)
            return try store.queuedTransaction(added.identifier).transaction
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

extension PaymentAction {
    fileprivate var title: Phrase {
        switch self {
        case .approve: "Approve"
        case .decline: "Decline"
        case .resolve: "Resolve the issue"
        case .finish: "Finish"
        }
    }

    fileprivate var notice: Notice {
        switch self {
        case .approve: .approved
        case .decline: .declined
        case .resolve: .bought
        case .finish: .performed
        }
    }
}

/// The buttons for actions on a payment.
func paymentActions(_ actions: [PaymentAction], on payment: PaymentTransaction, _ context: ConsoleContext) -> HTML {
    div(.class("actions")) {
        for action in actions {
            context.form(to: .storePayment(payment.identifier, action.rawValue)) {
                button(action == .approve || action == .resolve ? .class("primary") : nil) {
                    action.title
                    span(.class("hidden")) { plain(" \(payment.identifier)") }
                }
            }
        }
    }
}
