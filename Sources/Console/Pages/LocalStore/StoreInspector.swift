import AppStore
import Catalog
import Entitlements
import HTTPSupport
import Proofs
import Vocabulary

/// The part of the store's page about a chosen transaction or payment: its facts, and every action that is possible now.
final class StoreInspector: Sendable {
    private let selection: StoreSelection
    private let names: CatalogNames
    private let listed: ListedTransaction?
    /// The payment of the queue; nil for a renewal, which no payment began.
    private let payment: QueuedTransaction?
    private let effect: PurchaseEffect?
    /// The signed transaction, as the app gets it.
    private let signed: String?
    let account: String

    /// Nil if nothing is chosen.
    ///
    /// - Throws: `StoreError` for an unknown transaction or payment.
    init?(_ selection: StoreSelection, _ names: CatalogNames, in books: Books) throws {
        let queued = try selection[.payment].map { try books.queued(Int64($0) ?? 0) }
        let sold = selection[.transaction] ?? queued?.transaction.purchase?.transactionIdentifier
        listed = try sold.map { try books.listedTransaction($0) }
        payment = queued ?? listed?.payment
        guard let account = listed?.transaction.account ?? payment?.account else { return nil }
        self.account = account
        (self.selection, self.names) = (selection, names)
        effect = try payment.flatMap { try books.effect(of: $0.transaction.identifier) }
        signed = try sold.map { try books.signedTransaction(of: $0) }
    }

    /// The identifier of the sold transaction; nil if the payment sold none.
    var sold: String? { listed?.transaction.transactionIdentifier }

    /// - Parameters:
    ///   - owners: The purchases of the transaction that the service knows.
    ///   - user: The user who redeems what the account buys.
    ///   - refusal: The code with which the service has refused the proof.
    func html(_ context: ConsoleContext, owners: [KnownPurchase], user: User?, refusal: String?) -> HTML {
        StoreRows.inspector(HTMLAttribute("tabindex", "-1"), HTMLAttribute("data-follow")) {
            head
            if let refusal {
                div(.class("problem"), .role("alert")) {
                    p {
                        "The store sold the product, but the service refused the proof:"
                        also(Shown.identifier(refusal))
                    }
                }
            }
            if let payment { StoreRows.buttons(payment, selection, context) }
            actions(context)
            if let subscription = listed?.subscription {
                h3 { "Subscription" }
                Facts.list(StoreRows.facts(of: subscription))
            }
            steps(owners)
            if sold != nil {
                context.action("Redeem", to: receiver("redeem"), submit: "Redeem") {
                    LocalStoreRoutes.user.html(user?.name)
                }
            }
            h3 { "Facts" }
            Facts.list(facts)
            if let signed { StoreRows.signed("Signed transaction (JWS)", "proof", signed) }
            forms(of: [.delete], context)
        }
    }

    @HTMLBuilder private var head: HTML {
        h2 {
            if let transaction = listed?.transaction {
                StoreRows.product(transaction.productIdentifier, quantity: transaction.quantity, names)
            } else if let payment = payment?.transaction.payment {
                StoreRows.product(payment.productIdentifier, quantity: payment.quantity, names)
            }
        }
        p(.class("head")) {
            spaced(
                listed.map(StoreWords.badge) ?? payment.map(StoreWords.badge), StoreRows.account(account),
                listed.map { Shown.money($0.transaction.amount) },
                listed.map { Shown.moment($0.transaction.purchaseDate) })
        }
    }

    @FactsBuilder private var facts: [Fact] {
        if let transaction = listed?.transaction {
            let original = transaction.originalTransactionIdentifier
            fact("Transaction") { Shown.identifier(transaction.transactionIdentifier) }
            fact("Original transaction") {
                StoreRows.transaction(original)
                br()
                a(.href(StoreSelection().with(.purchase, original).with(.transaction, sold).path())) {
                    listed?.subscription == nil ? "Transactions of the purchase" : "Periods of the subscription"
                }
            }
            fact("Order") { Shown.identifier(transaction.orderIdentifier) }
            fact("Product") { Shown.identifier(transaction.productIdentifier) }
            fact("Type") { transaction.type.title }
            fact("Offer") { transaction.offer?.words }
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
                if revocation.type == .refundProrated, let percentage = revocation.percentage {
                    fact("Refunded part of the price") { plain("\(Double(percentage) / 1000)%") }
                }
            }
        } else if let payment = payment?.transaction.payment {
            fact("Product") { Shown.identifier(payment.productIdentifier) }
            fact("Offer") { payment.offer.map { spaced($0.kind.title, Shown.identifier($0.identifier)) } }
            fact("Account token") { Shown.identifier(payment.appAccountToken?.lowercasedString) }
        }
    }

    /// The possible actions on the transaction and on its subscription, in groups.
    @HTMLBuilder private func actions(_ context: ConsoleContext) -> HTML {
        for (title, group) in TransactionAction.groups {
            let forms = forms(of: group, context)
            if !forms.isEmpty {
                h3 { title }
                forms
            }
        }
    }

    @HTMLBuilder private func forms(of group: [TransactionAction], _ context: ConsoleContext) -> HTML {
        if let listed {
            let actions = listed.actions.filter(group.contains)
            let buttons = actions.filter { !$0.hasForm }
            if !buttons.isEmpty {
                div(.class("actions")) {
                    for action in buttons {
                        context.form(to: receiver(action.rawValue)) { button { Phrase(stated: action.title) } }
                    }
                }
            }
            for action in actions where action.hasForm {
                let title = Phrase(stated: action.title)
                context.action(
                    title, to: receiver(action.rawValue), submit: title, action == .delete ? .danger : .primary
                ) {
                    for input in action.inputs { input.html }
                    if action == .delete {
                        p {
                            "Deletes the transaction and its repetitions, or the whole subscription, from the store. The service keeps what it has granted."
                        }
                    }
                }
            }
            if group.contains(.forceRenewal), listed.subscription?.ownership == .purchased {
                LocalStoreRoutes.retentionForm(to: receiver("retention"), context)
            }
        }
    }

    /// The receiver of a form about the transaction.
    private func receiver(_ action: String) -> ConsolePath {
        selection.receiver("transactions", sold ?? "", action)
    }

    /// The way of the purchase from the payment to the grant.
    @HTMLBuilder private func steps(_ owners: [KnownPurchase]) -> HTML {
        h3 { "The way of the purchase" }
        ol(.class("timeline")) {
            if let payment { paymentStep(payment.transaction) }
            if let sold {
                li(.class("good")) {
                    "The store has signed a proof:"
                    also(Shown.identifier(sold))
                }
                for owner in owners { redeemed(owner, sold) }
                if owners.isEmpty {
                    li(.class("warning")) {
                        "The service knows nothing of it yet. The app hands the proof to the service:"
                    }
                }
            }
            if let payment = payment?.transaction, payment.purchase != nil {
                let isFinished = payment.state == .finished
                li(.class(isFinished ? "good" : "warning")) {
                    isFinished
                        ? "The app has finished the transaction."
                        : "The app has not finished the transaction. The queue delivers it at each launch."
                }
            }
        }
    }

    private func paymentStep(_ payment: PaymentTransaction) -> HTML {
        let mood: Mood = payment.purchase != nil ? .good : payment.error != nil ? .bad : .warning
        return li(.class(mood.rawValue)) {
            "Payment"
            plain(" \(payment.identifier): ")
            if let effect { StoreWords.sentence(effect) } else { StoreWords.word(payment.state).title }
            if let error = payment.error { also(code { plain(error.name) }) }
        }
    }

    private func redeemed(_ owner: KnownPurchase, _ sold: String) -> HTML {
        let known = owner.transactions.first { $0.transactionIdentifier.hasSameBytes(as: sold) }
        return li(.class(known?.revocationDate == nil ? "good" : "bad")) {
            known == nil ? "An earlier transaction of the purchase was redeemed by" : "Redeemed by"
            also(owner.owner.map(Shown.link) ?? HTML { "an erased customer" })
            if let known { also(Shown.moment(known.redeemedAt), by: ", ") }
            if !owner.items.isEmpty {
                also(data(owner.items.map(\.description).joined(separator: ", ")), by: ": ")
            }
            if known?.revocationDate != nil { also(Shown.badge("Taken back", .bad)) }
        }
    }
}
