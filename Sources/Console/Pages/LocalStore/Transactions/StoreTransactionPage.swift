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
                if let payment = listed.payment { StoreRows.buttons(payment, context) }
            }
            actions
            way.form
            if related.count > 1 || nextCursor != nil { renewals }
            h2 { "Proof" }
            StoreRows.signed("Signed transaction (JWS)", "proof", signed)
        }
    }

    private var way: StorePurchaseWay {
        StorePurchaseWay(
            context, listed.payment, sold: transaction.transactionIdentifier, effect: effect, owners: owners)
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
            next: nextCursor.map { .storeTransaction(transaction.transactionIdentifier, cursor: $0) })
    }

    @FactsBuilder private var purchaseFacts: [Fact] {
        fact("State") { StoreWords.badge(listed) }
        fact("Transaction") { Shown.identifier(transaction.transactionIdentifier) }
        fact("Original transaction") {
            StoreRows.transaction(transaction.originalTransactionIdentifier)
        }
        fact("Order") { Shown.identifier(transaction.orderIdentifier) }
        fact("Account") { StoreRows.account(transaction.account) }
        fact("Product") { StoreRows.product(transaction.productIdentifier, quantity: transaction.quantity) }
        fact("Type") { transaction.type.title }
        fact("Price") { Shown.money(transaction.price) }
        fact("Offer") { transaction.offer?.words ?? Shown.nothing }
        fact(Phrase("Reason", context: "transaction")) { StoreWords.title(transaction.reason) }
        fact("Ownership") { StoreWords.title(transaction.ownership) }
        fact("Storefront") { Shown.identifier(transaction.storefrontCountryCode) }
        fact("Account token") { Shown.identifier(transaction.appAccountToken?.lowercasedString) }
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

    /// The forms for the actions on the transaction and on its subscription. Only the possible actions are shown.
    @HTMLBuilder private var actions: HTML {
        let actions = listed.actions
        h2 { "Actions" }
        div(.class("actions")) {
            for action in actions where action.fields == nil {
                context.form(to: path(of: action)) { button { Phrase(stated: action.title) } }
            }
        }
        for action in actions {
            if let fields = action.fields {
                let title = Phrase(stated: action.title)
                context.action(title, to: path(of: action), submit: title, action == .delete ? .danger : .primary) {
                    fields
                }
            }
        }
    }

    private func path(of action: TransactionAction) -> ConsolePath {
        .storeTransaction(transaction.transactionIdentifier, action.rawValue)
    }
}

/// The form of an action.
extension TransactionAction {
    /// The fields of the form; nil for an action that a button starts at once.
    fileprivate var fields: HTML? {
        switch self {
        case .requestRefund:
            Field.choice(
                "request-reason", "Reason of the customer",
                ConsumptionRequestReason.allCases.map { ($0.rawValue, $0.title) },
                chosen: ConsumptionRequestReason.other.rawValue)
        case .refund:
            Field.choice(
                "refund-reason", "Reason",
                RevocationReason.allCases.map { (String($0.rawValue), StoreWords.title($0)) })
        case .share:
            Field.text(
                "member", "Account of the family member", maximumLength: Store.maximumAccountLength, isRequired: true)
        case .failRenewal:
            Field.choice(
                "then", "Afterwards",
                [Status.billingRetry, .billingGracePeriod].map { (String($0.rawValue), StoreWords.title($0)) })
        case .requestPriceIncrease:
            HTML {
                Field.text(
                    "price", "New price", inputMode: "decimal", maximumLength: 13, isRequired: true,
                    note: "In the storefront's currency, such as 5.99.")
                Field.checkbox("needs-consent", "The customer has to consent", isChecked: true)
            }
        case .delete:
            p {
                "Deletes the transaction and its repetitions, or the whole subscription, from the store. The service keeps what it has granted."
            }
        default: nil
        }
    }

    /// Reads the fields of the form.
    ///
    /// - Throws: `Problem`, `fieldInvalid`.
    fileprivate func parameters(_ form: ConsoleForm) throws(Problem) -> Parameters {
        var values = Parameters()
        switch self {
        case .requestRefund:
            guard let reason = ConsumptionRequestReason(rawValue: try form.requiredText("request-reason")) else {
                throw ConsoleForm.invalid("request-reason", "a reason of the list")
            }
            values.requestReason = reason
        case .refund:
            guard let reason = try form.integer("refund-reason").flatMap(RevocationReason.init) else {
                throw ConsoleForm.invalid("refund-reason", "a reason of the list")
            }
            values.refundReason = reason
        case .share: values.member = try form.requiredText("member", upTo: Store.maximumAccountLength)
        case .failRenewal:
            values.hasGracePeriod = try form.requiredText("then") == String(Status.billingGracePeriod.rawValue)
        case .requestPriceIncrease:
            guard let price = Price(majorUnits: try form.requiredText("price"), currency: "") else {
                throw ConsoleForm.invalid("price", "an amount such as 5.99")
            }
            (values.price, values.needsConsent) = (price.milliunits, form.isChecked("needs-consent"))
        default: break
        }
        return values
    }

    /// The confirmation after the action.
    fileprivate var notice: Notice {
        switch self {
        case .refund: .refunded
        case .declineRefund, .declinePriceIncrease: .declined
        case .delete: .removed
        default: .performed
        }
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
                let listed = try store.read { try $0.listedTransaction(identifier) }
                let original = listed.transaction.originalTransactionIdentifier
                let found = try store.read {
                    try $0.listedTransactions(original: original, before: before, limit: page.size + 1)
                }
                let (related, next) = page.part(of: found) { String($0.number) }
                return StoreTransactionPage(
                    context: context, listed: listed,
                    effect: try listed.payment.flatMap { payment in
                        try store.read { try $0.effect(of: payment.transaction.identifier) }
                    },
                    signed: try store.read { try $0.signedTransaction(of: identifier) }, related: related,
                    nextCursor: next,
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
                try store.perform(action, try action.parameters(context.form), on: identifier)
                return action == .delete
                    ? ConsolePath("store", done: action.notice) : .storeTransaction(identifier, done: action.notice)
            }
        }
    }
}
