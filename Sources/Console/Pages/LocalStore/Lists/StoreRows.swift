import AppStore
import Proofs

/// The parts that several pages of the local store have.
enum StoreRows {
    /// A list whose rows open the inspector.
    static func transactions(
        _ transactions: [ListedTransaction], _ selection: StoreSelection, _ names: CatalogNames, empty: Phrase,
        next: ConsolePath?
    ) -> HTML {
        Listing.table("Transactions, newest first", of: transactions, empty: empty, next: next) {
            column("Product") { listed in
                selection.link(.transaction, listed.transaction.transactionIdentifier) {
                    product(listed.transaction.productIdentifier, quantity: listed.transaction.quantity, names)
                }
                br()
                small { Shown.moment(listed.transaction.purchaseDate) }
            }
            column("Account") { listed in
                account(listed.transaction.account)
                br()
                small { Shown.identifier(listed.transaction.transactionIdentifier) }
            }
            column("Price") { Shown.money($0.transaction.price) }
            column("State") { listed in
                StoreWords.badge(listed)
                if let subscription = listed.subscription {
                    br()
                    small { StoreWords.state(subscription) }
                }
            }
        }
    }

    static func payments(
        _ caption: Phrase, _ payments: [QueuedTransaction], _ selection: StoreSelection, _ names: CatalogNames,
        _ context: ConsoleContext, next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: payments, empty: "The queue is empty.", next: next) {
            column("Payment") { queued in
                let (number, payment) = (String(queued.transaction.identifier), queued.transaction.payment)
                selection.link(.payment, number) {
                    product(payment.productIdentifier, quantity: payment.quantity, names)
                    plain(" (\(number))")
                }
            }
            column("Account") { account($0.account) }
            column("State") { StoreWords.badge($0) }
            column("Next step") { buttons($0, selection, context) }
        }
    }

    /// The name of a product, with the quantity if it is more than one.
    @HTMLBuilder static func product(_ identifier: String, quantity: Int, _ names: CatalogNames) -> HTML {
        bdi { names.product(identifier) }
        if quantity > 1 { plain(" × \(quantity)") }
    }

    static func buttons(
        _ queued: QueuedTransaction, _ selection: StoreSelection, _ context: ConsoleContext
    ) -> HTML {
        let number = String(queued.transaction.identifier)
        return div(.class("actions")) {
            for action in queued.actions {
                context.form(to: selection.receiver("queue", number, action.rawValue)) {
                    button(action == .approve || action == .resolve ? .class("primary") : nil) {
                        action.words.title
                        span(.class("hidden")) { plain(" \(number)") }
                    }
                }
            }
        }
    }

    static func account(_ name: String) -> HTML { a(.href(StoreSelection(account: name).path())) { data(name) } }

    static func transaction(_ identifier: String) -> HTML {
        StoreSelection().link(.transaction, identifier) { Shown.identifier(identifier) }
    }

    /// A signed text with a button that copies it.
    ///
    /// - Parameter identifier: The identifier of the text on the page.
    static func signed(_ title: Phrase, _ identifier: String, _ text: String) -> HTML {
        details(.class("action")) {
            summary { title }
            Shown.copyButton(for: identifier)
            pre(.id(identifier), HTMLAttribute("tabindex", "0")) { plain(text) }
        }
    }

    @FactsBuilder static func facts(of subscription: SubscriptionSummary) -> [Fact] {
        fact("State") { StoreWords.state(subscription) }
        fact("Product") { Shown.identifier(subscription.productIdentifier) }
        fact("Automatic renewal") { subscription.isAutoRenewing ? "On" : "Off" }
        fact("Subscribed since") { Shown.moment(subscription.startDate) }
        fact("Paid until") { Shown.moment(subscription.expiresDate) }
        if subscription.quantity > 1 || subscription.renewalQuantity > 1 {
            fact("Seats") { plain(String(subscription.quantity)) }
            fact("Seats after the renewal") { plain(String(subscription.renewalQuantity)) }
        }
        if let commitment = subscription.commitment {
            fact("End of the commitment") { Shown.moment(commitment.expiresDate) }
        }
        if subscription.autoRenewProductIdentifier != subscription.productIdentifier {
            fact("Product after the renewal") { Shown.identifier(subscription.autoRenewProductIdentifier) }
        }
        if let price = subscription.renewalPrice {
            fact("Next charge") {
                Shown.money(price)
                if let offer = subscription.renewalOffer { also(offer.title, by: ", ") }
            }
        }
        if let increase = subscription.priceIncrease {
            fact("Announced price") {
                spaced(
                    Shown.money(increase.price),
                    increase.isAccepted
                        ? Shown.badge(Phrase("Accepted", context: "price"), .good)
                        : Shown.badge("Waits for consent", .warning))
            }
        }
        if let intent = subscription.expirationIntent { fact("Reason of the end") { StoreWords.title(intent) } }
        fact("First transaction") { transaction(subscription.originalTransactionIdentifier) }
    }
}
