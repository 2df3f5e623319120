import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The transactions of the local store, and the actions on them.
extension LocalStoreRoutes {
    func addTransactions(to pages: ConsolePages) {
        pages.get("store/transactions/:transaction", .store) { request, context in
            try await transaction(request, context)
        }
        pages.post("store/transactions/:transaction/redeem", .store) { _, context in
            let identifier = try context.parameters.text("transaction")
            try await redeem(identifier, for: try context.form[Self.user], by: try context.requiredMember.actor)
            return ConsolePath.storeTransaction(identifier, done: .redeemed)
        }
        for action in TransactionAction.allCases {
            pages.postStore(RouterPath("store/transactions/:transaction/\(action.rawValue)")) { context in
                let identifier = try context.parameters.text("transaction")
                var values = TransactionAction.Parameters()
                for input in action.inputs { try input.read(context.form, &values) }
                try store.perform(action, values, on: identifier)
                return action == .delete
                    ? ConsolePath("store", done: action.notice) : .storeTransaction(identifier, done: action.notice)
            }
        }
    }

    /// A transaction of the store: its facts, its signed form, its renewals, and the actions on it.
    private func transaction(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let identifier = try context.parameters.text("transaction")
        let page = try HTTPSupport.Page(request)
        let before = try page.before()
        let owners = try await owners(of: identifier)
        return try await BlockingWork.run {
            let listed = try store.read { try $0.listedTransaction(identifier) }
            let original = listed.transaction.originalTransactionIdentifier
            // The transactions of the same purchase, the newest first.
            let found = try store.read {
                try $0.listedTransactions(original: original, before: before, limit: page.size + 1)
            }
            let (related, next) = page.part(of: found) { String($0.number) }
            let payment = listed.payment
            let way = StorePurchaseWay(
                context: context, payment: payment?.transaction, sold: listed.transaction.transactionIdentifier,
                effect: try payment.flatMap { payment in
                    try store.read { try $0.effect(of: payment.transaction.identifier) }
                }, owners: owners)
            // As the app gets it.
            let signed = try store.read { try $0.signedTransaction(of: identifier) }
            return Page("Transaction of the store", section: .localStore) {
                LocalStoreTab.links(nil)
                LocalStoreTab.live {
                    div(.class("columns")) {
                        card("Facts") { Facts.list(Self.facts(of: listed.transaction, StoreWords.badge(listed))) }
                        if let subscription = listed.subscription {
                            card("Subscription") { Facts.list(StoreRows.facts(of: subscription)) }
                        }
                    }
                    way.steps
                    if let payment { StoreRows.buttons(payment, context) }
                }
                Self.actions(on: listed, context)
                if listed.subscription?.ownership == .purchased {
                    Self.retentionForm(of: listed.transaction.transactionIdentifier, context)
                }
                way.form
                if related.count > 1 || next != nil {
                    h2 {
                        listed.transaction.type == .autoRenewableSubscription
                            ? "Periods of the subscription"
                            : "Transactions of the purchase"
                    }
                    StoreRows.transactions(
                        "Transactions of the same purchase, newest first", related,
                        empty: "None.",
                        next: next.map { .storeTransaction(listed.transaction.transactionIdentifier, cursor: $0) })
                }
                h2 { "Proof" }
                StoreRows.signed("Signed transaction (JWS)", "proof", signed)
            }
        }
    }

    @FactsBuilder private static func facts(of transaction: Transaction, _ state: HTML) -> [Fact] {
        fact("State") { state }
        fact("Transaction") { Shown.identifier(transaction.transactionIdentifier) }
        fact("Original transaction") { StoreRows.transaction(transaction.originalTransactionIdentifier) }
        fact("Order") { Shown.identifier(transaction.orderIdentifier) }
        fact("Account") { StoreRows.account(transaction.account) }
        fact("Product") { StoreRows.product(transaction.productIdentifier, quantity: transaction.quantity) }
        fact("Type") { transaction.type.title }
        fact("Price") { Shown.money(transaction.amount) }
        fact("Offer") { transaction.offer?.words ?? Shown.nothing }
        fact(Phrase("Reason", context: "transaction")) { StoreWords.title(transaction.reason) }
        fact("Ownership") { StoreWords.title(transaction.ownership) }
        fact("Storefront") { Shown.identifier(transaction.storefrontCountryCode) }
        fact("Account token") { Shown.identifier(transaction.appAccountToken?.lowercasedString) }
        fact(Phrase("Purchased", context: "moment")) { Shown.moment(transaction.purchaseDate) }
        fact("First purchased") { Shown.moment(transaction.originalPurchaseDate) }
        fact(Phrase("Expires", context: "moment")) { Shown.moment(transaction.expiresDate) }
        if let plan = transaction.billingPlanType { fact("Billing plan") { StoreWords.title(plan) } }
        if let commitment = transaction.commitment {
            fact("Billing period of the commitment") {
                plain("\(commitment.billingPeriodNumber) / \(BillingPlan.commitmentPeriods)")
            }
            fact("End of the commitment") { Shown.moment(commitment.expiresDate) }
        }
        if let period = transaction.webOrderLineItemIdentifier {
            fact(Phrase("Period", context: "identifier")) { Shown.identifier(period) }
        }
        if let revocation = transaction.revocation {
            fact(Phrase("Revoked", context: "moment")) { Shown.moment(revocation.date) }
            fact("Reason of the revocation") { StoreWords.title(revocation.reason) }
        }
    }

    /// The forms for the actions on the transaction and on its subscription. Only the possible actions are shown.
    @HTMLBuilder private static func actions(on listed: ListedTransaction, _ context: ConsoleContext) -> HTML {
        let identifier = listed.transaction.transactionIdentifier
        let (forms, buttons) = (listed.actions.filter(\.hasForm), listed.actions.filter { !$0.hasForm })
        h2 { "Actions" }
        div(.class("actions")) {
            for action in buttons {
                context.form(to: .storeTransaction(identifier, action.rawValue)) {
                    button { Phrase(stated: action.title) }
                }
            }
        }
        for action in forms {
            let title = Phrase(stated: action.title)
            context.action(
                title, to: .storeTransaction(identifier, action.rawValue), submit: title,
                action == .delete ? .danger : .primary
            ) {
                for input in action.inputs { input.html }
                if action == .delete {
                    p {
                        "Deletes the transaction and its repetitions, or the whole subscription, from the store. The service keeps what it has granted."
                    }
                }
            }
        }
    }
}

/// A field of an action's form, which gives one of the parameters.
private struct ActionInput {
    let html: HTML
    let read: @Sendable (ConsoleForm, inout TransactionAction.Parameters) throws(Problem) -> Void

    init<Value>(_ field: Field<Value>, _ path: WritableKeyPath<TransactionAction.Parameters, Value> & Sendable) {
        html = field.html()
        read = { form, values throws(Problem) in values[keyPath: path] = try form[field] }
    }
}

extension TransactionAction {
    private static let requestReason = Field.choice(
        "request-reason", "Reason of the customer", ConsumptionRequestReason.allCases, expected: "a reason of the list",
        text: \.rawValue, shown: \.title, chosen: .other, isRequired: true, parse: { .init(rawValue: $0) })
    private static let refundReason = Field.choice(
        "refund-reason", "Reason", RevocationReason.allCases, expected: "a reason of the list",
        number: { Int($0.rawValue) }, shown: { StoreWords.title($0) })
    private static let hasGracePeriod = Field.choice(
        "then", "Afterwards", [false, true], expected: "a state of the list",
        text: { String(status(afterFailure: $0).rawValue) },
        shown: { StoreWords.word(status(afterFailure: $0)).title }, isRequired: true,
        parse: { $0 == String(status(afterFailure: true).rawValue) })
    private static let price = Field.text(
        "price", "New price", inputMode: "decimal", maximumLength: 13, isRequired: true,
        note: "In the storefront's currency, such as 5.99."
    ).parsed("an amount such as 5.99") { Price(majorUnits: $0, currency: "")?.milliunits }

    private static let seats = Field<Int>.number(
        "seats", "Seats after the change", in: Seats.quantities,
        expected: "a number from \(Seats.quantities.lowerBound) to \(Seats.quantities.upperBound)")

    private static func member(_ label: Phrase) -> ActionInput {
        ActionInput(.text("member", label, upTo: Store.maximumAccountLength, isRequired: true), \.member)
    }

    private static func status(afterFailure hasGracePeriod: Bool) -> Status {
        hasGracePeriod ? .billingGracePeriod : .billingRetry
    }

    fileprivate var inputs: [ActionInput] {
        switch self {
        case .requestRefund: [ActionInput(Self.requestReason, \.requestReason)]
        case .refund: [ActionInput(Self.refundReason, \.refundReason)]
        case .share: [Self.member("Account of the family member")]
        case .acceptInvitation: [Self.member("Account of the member")]
        case .failRenewal: [ActionInput(Self.hasGracePeriod, \.hasGracePeriod)]
        case .changeSeats:
            [ActionInput(Self.seats, \.seats)]
        case .requestPriceIncrease:
            [
                ActionInput(Self.price, \.price),
                ActionInput(
                    .checkbox("needs-consent", "The customer has to consent", isChecked: true), \.needsConsent),
            ]
        default: []
        }
    }

    /// False for an action that a button starts at once.
    fileprivate var hasForm: Bool { !inputs.isEmpty || self == .delete }

    fileprivate var notice: Notice {
        switch self {
        case .refund: .refunded
        case .declineRefund, .declinePriceIncrease: .declined
        case .delete: .removed
        default: .performed
        }
    }
}
