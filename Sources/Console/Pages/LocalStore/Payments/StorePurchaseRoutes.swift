import AppStore
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// Purchases at the local store, and the steps of their payments.
struct StorePurchaseRoutes: Sendable {
    let store: Store
    let entitlements: EntitlementService

    private var redemption: StoreRedemption { StoreRedemption(store: store, entitlements: entitlements) }

    func add(to pages: ConsolePages) {
        pages.get("store/buy", .store) { request, context in
            let account = try request.query("account", upTo: Store.maximumAccountLength)
            let product = try request.query("product")
            return try await BlockingWork.run { [store] in
                let accounts = try store.recentAccounts()
                return StorePurchasePage(
                    context: context, products: store.configuration.products, accounts: accounts,
                    account: account ?? accounts.first ?? "alice", product: product
                ).page
            }
        }
        pages.post("store/buy", .store) { _, context in try await buy(context) }
        pages.get("store/queue/:payment", .store) { request, context in
            let identifier = try Self.identifier(context)
            let refusal = try request.query("refused", upTo: 64)
            let (shown, effect) = try await BlockingWork.run { [store] in
                (
                    try StoreShownPayment(try store.queuedTransaction(identifier), store),
                    try store.effect(of: identifier)
                )
            }
            let sold = shown.queued.transaction.purchase?.transactionIdentifier
            var owners: [KnownPurchase] = []
            if let sold { owners = try await redemption.owners(of: sold) }
            return StorePaymentPage(context: context, shown: shown, effect: effect, owners: owners, refusal: refusal)
                .page
        }
        for action in StorePaymentAction.allCases {
            pages.post(RouterPath("store/queue/:payment/\(action.rawValue)"), .store) { _, context in
                let identifier = try Self.identifier(context)
                // A resolved payment continues as another transaction of the queue.
                let changed = try await BlockingWork.run { [store] in
                    try Self.perform(action, on: identifier, store)
                }
                return .storePayment(changed, query: ["done": action.notice.rawValue])
            }
        }
    }

    private static func identifier(_ context: ConsoleContext) throws -> Int64 {
        guard let number = Int64(try context.parameters.text("payment")) else { throw Problem.pathUnknown }
        return number
    }

    private static func perform(_ action: StorePaymentAction, on identifier: Int64, _ store: Store) throws -> Int64 {
        switch action {
        case .approve: return try store.approve(identifier).transaction.identifier
        case .decline: return try store.decline(identifier).transaction.identifier
        case .resolve: return try store.resolveIssue(identifier).transaction.identifier
        case .finish:
            let queued = try store.queuedTransaction(identifier)
            return try store.finish(identifier, account: queued.account).identifier
        }
    }

    /// Buys, and redeems the purchase for a user if the form names one.
    private func buy(_ context: ConsoleContext) async throws -> ConsolePath {
        let actor = try context.requiredMember.actor
        let form = try StorePurchaseForm(context.form)
        var token = form.token
        if token == nil, let user = form.user { token = try await entitlements.appAccountToken(of: user) }
        let payment = try await BlockingWork.run { [store, token] in
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
        return .storePayment(
            payment.identifier,
            query: ["done": payment.purchase == nil ? nil : Notice.bought.rawValue, "refused": refusal])
    }
}

/// An action on a payment of the queue. The raw value is the last segment of its address.
enum StorePaymentAction: String, CaseIterable, Sendable {
    case approve
    case decline
    case resolve
    case finish

    var title: Phrase {
        switch self {
        case .approve: "Approve"
        case .decline: "Decline"
        case .resolve: "Resolve the issue"
        case .finish: "Finish"
        }
    }

    var notice: Notice {
        switch self {
        case .approve: .approved
        case .decline: .declined
        case .resolve: .bought
        case .finish: .performed
        }
    }

    func isPossible(_ payment: PaymentTransaction, isInterrupted: Bool) -> Bool {
        switch self {
        case .approve, .decline: payment.state == .deferred
        case .resolve: isInterrupted
        case .finish: payment.state.isAwaitingFinish
        }
    }
}

/// The buttons for the actions on a payment.
struct StorePaymentActionForms {
    let context: ConsoleContext
    let payment: PaymentTransaction
    let isInterrupted: Bool

    var buttons: HTML {
        div(.class("actions")) {
            for action in StorePaymentAction.allCases where action.isPossible(payment, isInterrupted: isInterrupted) {
                context.form(to: .storePayment(payment.identifier, action.rawValue)) {
                    button(action == .approve || action == .resolve ? .class("primary") : nil) {
                        action.title
                        span(.class("hidden")) { plain(" \(payment.identifier)") }
                    }
                }
            }
        }
    }
}
