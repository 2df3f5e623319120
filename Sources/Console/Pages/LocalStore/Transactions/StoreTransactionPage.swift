import AppStore
import Features
import HTTPSupport
import Hummingbird
import Proofs

/// A transaction of the store: its facts, its signed form, its renewals, and the actions on it.
struct StoreTransactionPage {
    let context: ConsoleContext
    let listed: ListedTransaction
    /// The effect of its payment; nil if it has none.
    let effect: PurchaseEffect?
    /// The signed form, as the app gets it.
    let signed: String
    /// The transactions of the same purchase, the newest first.
    let related: [ListedTransaction]
    let nextCursor: String?
    /// The purchases of the transaction that the service knows.
    let owners: [KnownPurchase]

    private var transaction: Transaction { listed.transaction }

    var page: Page {
        Page("Transaction of the store", section: .localStore) {
            LocalStoreTab.links(nil)
            LocalStoreTab.live {
                div(.class("columns")) {
                    card("Facts") { Facts.list(purchaseFacts + endFacts) }
                    if let subscription = listed.subscription {
                        card("Subscription") { Facts.list(StoreRows.facts(of: subscription)) }
                    }
                }
                way.steps
                if let payment = listed.payment {
                    paymentActions(payment.state.isAwaitingFinish ? [.finish] : [], on: payment, context)
                }
            }
            StoreTransactionActionForms(context: context, listed: listed).html
            way.form
            if related.count > 1 || nextCursor != nil { renewals }
            h2 { "Proof" }
            signedText("Signed transaction (JWS)", identifier: "proof", signed)
        }
    }

    private var way: StorePurchaseWay {
        StorePurchaseWay(
            context: context, payment: listed.payment, transactionIdentifier: transaction.transactionIdentifier,
            effect: effect, owners: owners)
    }

    @HTMLBuilder private var renewals: HTML {
        h2 {
            transaction.type == .autoRenewableSubscription
                ? "Periods of the subscription"
                : "Transactions of the purchase"
        }
        StoreRows.transactions(
            "Transactions of the same purchase, newest first", related,
            empty: "None.",
            next: nextCursor.map {
                .storeTransaction(transaction.transactionIdentifier, cursor: $0)
            })
    }

    @FactsBuilder private var purchaseFacts: [Fact] {
        fact("State") { StoreWords.badge(listed) }
        fact("Transaction") { Shown.identifier(transaction.transactionIdentifier) }
        fact("Original transaction") {
            a(.href(.storeTransaction(transaction.originalTransactionIdentifier))) {
                Shown.identifier(transaction.originalTransactionIdentifier)
            }
        }
        fact("Order") { Shown.identifier(transaction.orderIdentifier) }
        fact("Account") { StoreRows.account(transaction.account) }
        fact("Product") { StoreRows.product(transaction.productIdentifier, quantity: transaction.quantity) }
        fact("Type") { transaction.type.title }
        fact("Price") { Shown.money(transaction.price) }
        fact("Offer") { transaction.offer.map { $0.words } ?? Shown.nothing }
        fact(Phrase("Reason", context: "transaction")) { StoreWords.title(transaction.reason) }
        fact("Ownership") { StoreWords.title(transaction.ownership) }
        fact("Storefront") { Shown.identifier(transaction.storefrontCountryCode) }
        fact("Account token") { Shown.identifier(transaction.appAccountToken?.uuidString.lowercased()) }
    }

    @FactsBuilder private var endFacts: [Fact] {
        fact(Phrase("Purchased", context: "moment")) { Shown.moment(transaction.purchaseDate) }
        fact("First purchased") { Shown.moment(transaction.originalPurchaseDate) }
        fact(Phrase("Expires", context: "moment")) { Shown.moment(transaction.expiresDate) }
        if let period = transaction.webOrderLineItemIdentifier {
            fact(Phrase("Period", context: "identifier")) { Shown.identifier(period) }
        }
        if let revocation = transaction.revocation {
            fact(Phrase("Revoked", context: "moment")) { Shown.moment(revocation.date) }
            fact("Reason of the revocation") { StoreWords.title(revocation.reason) }
        }
    }
}

/// The forms for the actions on a transaction and on its subscription. Only the possible actions are shown.
struct StoreTransactionActionForms {
    let context: ConsoleContext
    let listed: ListedTransaction

    @HTMLBuilder var html: HTML {
        let actions = listed.actions
        h2 { "Actions" }
        div(.class("actions")) {
            for action in actions where action.fields == nil {
                form(action) {
                    button { action.words }
                }
            }
        }
        for action in actions where action.fields != nil {
            details(.class("action")) {
                summary { action.words }
                form(action) {
                    action.fields
                    button(action == .delete ? .class("danger") : .class("primary")) { action.words }
                }
            }
        }
    }

    private func form(_ action: TransactionAction, @HTMLBuilder content: () -> HTML) -> HTML {
        context.form(to: .storeTransaction(listed.transaction.transactionIdentifier, action.rawValue), content: content)
    }
}

/// The transactions of the local store, and the actions on them.
struct StoreTransactionRoutes: Sendable {
    let redemption: StoreRedemption

    func add(to pages: StorePages) {
        pages.pages.get("store/transactions/:transaction", .store) { [store = pages.store] request, context in
            let identifier = try context.parameters.text("transaction")
            let page = try HTTPSupport.Page(request)
            let before = try page.before()
            let owners = try await redemption.owners(of: identifier)
            return try await BlockingWork.run {
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
        pages.pages.post("store/transactions/:transaction/redeem", .store) { _, context in
            let identifier = try context.parameters.text("transaction")
            let user = try context.form[StorePurchaseForm.user]
            try await redemption.redeem(identifier, for: user, by: try context.requiredMember.actor)
            return ConsolePath.storeTransaction(identifier, done: .redeemed)
        }
        for action in TransactionAction.allCases {
            pages.post(RouterPath("store/transactions/:transaction/\(action.rawValue)")) { context, store in
                let identifier = try context.parameters.text("transaction")
                try store.perform(action, try action.values(context.form), on: identifier)
                return action == .delete
                    ? ConsolePath("store", done: action.notice) : .storeTransaction(identifier, done: action.notice)
            }
        }
    }
}

/// A signed text with a button that copies it.
///
/// - Parameter identifier: The identifier of the text on the page.
func signedText(_ title: Phrase, identifier: String, _ text: String) -> HTML {
    details(.class("action")) {
        summary { title }
        Shown.copyButton(for: identifier)
        pre(.id(identifier), HTMLAttribute("tabindex", "0")) { plain(text) }
    }
}
