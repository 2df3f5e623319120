import AppStore
import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The transactions of the local store, and the actions on them.
struct StoreTransactionRoutes: Sendable {
    let store: Store
    let entitlements: EntitlementService

    private var redemption: StoreRedemption { StoreRedemption(store: store, entitlements: entitlements) }

    func add(to pages: ConsolePages) {
        pages.get("store/transactions/:transaction", .store) { request, context in
            let identifier = try context.parameters.text("transaction")
            let page = try HTTPSupport.Page(request)
            let before = try page.before()
            let owners = try await redemption.owners(of: identifier)
            return try await BlockingWork.run { [store] in
                let listed = try store.listedTransaction(identifier)
                let found = try store.listedTransactions(
                    original: listed.transaction.originalTransactionIdentifier, before: before, limit: page.size + 1)
                let (related, next) = page.part(of: found) { String($0.number) }
                return StoreTransactionPage(
                    context: context, listed: listed,
                    effect: try listed.payment.flatMap { try store.effect(of: $0.identifier) },
                    signed: try store.signedTransaction(of: identifier), related: related, nextCursor: next,
                    owners: owners
                ).page
            }
        }
        pages.post("store/transactions/:transaction/redeem", .store) { _, context in
            let identifier = try context.parameters.text("transaction")
            let user = try StorePurchaseForm.requiredUser(context.form)
            try await redemption.redeem(identifier, for: user, by: try context.requiredMember.actor)
            return .storeTransaction(identifier, query: ["done": Notice.redeemed.rawValue])
        }
        for action in TransactionAction.allCases {
            pages.post(RouterPath("store/transactions/:transaction/\(action.rawValue)"), .store) { _, context in
                let identifier = try context.parameters.text("transaction")
                let perform = try action.reading(context.form)
                try await BlockingWork.run { [store] in try perform(store, identifier) }
                let done = ["done": action.notice.rawValue] as KeyValuePairs<String, String?>
                return action == .delete
                    ? ConsolePath("store", query: done) : .storeTransaction(identifier, query: done)
            }
        }
    }
}
