import AppStore
import Proofs

/// The parts that several pages of the local store have.
enum StoreRows {
    static func transactions(
        _ caption: Phrase, _ transactions: [ListedTransaction], empty: Phrase, next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: transactions, empty: empty, next: next) {
            column("Time") { Shown.moment($0.transaction.purchaseDate) }
            column("Transaction") { transaction($0.transaction.transactionIdentifier) }
            column("Account") { account($0.transaction.account) }
            column("Product") { product($0.transaction.productIdentifier, quantity: $0.transaction.quantity) }
            column("Price") { Shown.money($0.transaction.price) }
            column("State") { StoreWords.badge($0) }
            column("Subscription") { $0.subscription.map(StoreWords.state) ?? Shown.nothing }
        }
    }

    static func payments(
        _ caption: Phrase, _ payments: [QueuedTransaction], _ context: ConsoleContext, empty: Phrase,
        next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: payments, empty: empty, next: next) {
            column("Number") {
                a(.href(.storePayment($0.transaction.identifier)), plain("\($0.transaction.identifier)"))
            }
            column("Account") { account($0.account) }
            column("Product") { product($0.transaction.payment) }
            column("State") { StoreWords.badge($0) }
            column("Next step") { buttons($0, context) }
        }
    }

    static func buttons(_ queued: QueuedTransaction, _ context: ConsoleContext) -> HTML {
        let number = queued.transaction.identifier
        return div(.class("actions")) {
            for action in queued.actions {
                context.form(to: .storePayment(number, action.rawValue)) {
                    button(action == .approve || action == .resolve ? .class("primary") : nil) {
                        action.words.title
                        span(.class("hidden")) { plain(" \(number)") }
                    }
                }
            }
        }
    }

    static func account(_ name: String) -> HTML { a(.href(.storeAccount(name))) { data(name) } }

    static func transaction(_ identifier: String) -> HTML {
        a(.href(.storeTransaction(identifier))) { Shown.identifier(identifier) }
    }

    static func product(_ payment: Payment) -> HTML {
        product(payment.productIdentifier, quantity: payment.quantity)
    }

    @HTMLBuilder static func product(_ identifier: String, quantity: Int) -> HTML {
        Shown.identifier(identifier)
        if quantity > 1 { plain(" × \(quantity)") }
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
