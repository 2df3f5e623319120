import AppStore
import Proofs

/// The tables of the local store's lists.
enum StoreRows {
    static func transactions(
        _ caption: Phrase, _ transactions: [ListedTransaction], empty: Phrase, next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: transactions, empty: empty, next: next) {
            column("Time") { Shown.moment($0.transaction.purchaseDate) }
            column("Transaction") { listed in
                a(.href(.storeTransaction(listed.transaction.transactionIdentifier))) {
                    Shown.identifier(listed.transaction.transactionIdentifier)
                }
            }
            column("Account") { account($0.transaction.account) }
            column("Product") { product($0.transaction.productIdentifier, quantity: $0.transaction.quantity) }
            column("Price") { Shown.money($0.transaction.price) }
            column("State") { StoreWords.badge($0) }
            column("Subscription") { listed in
                if let subscription = listed.subscription {
                    spaced(StoreWords.badge(subscription.status), StoreWords.renewal(subscription))
                } else {
                    Shown.nothing
                }
            }
        }
    }

    static func payments(
        _ caption: Phrase, _ payments: [QueuedTransaction], _ context: ConsoleContext, empty: Phrase,
        next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: payments, empty: empty, next: next) {
            column("Number") { queued in
                let number = queued.transaction.identifier
                a(.href(.storePayment(number))) { plain("\(number)") }
            }
            column("Account") { account($0.account) }
            column("Product") { queued in
                let payment = queued.transaction.payment
                product(payment.productIdentifier, quantity: payment.quantity)
            }
            column("State") { StoreWords.badge($0) }
            column("Next step") { paymentActions($0.actions, on: $0.transaction, context) }
        }
    }

    static func account(_ name: String) -> HTML { a(.href(.storeAccount(name))) { data(name) } }

    @HTMLBuilder static func product(_ identifier: String, quantity: Int) -> HTML {
        Shown.identifier(identifier)
        if quantity > 1 { plain(" × \(quantity)") }
    }

    /// The facts about a subscription.
    @FactsBuilder static func facts(of subscription: SubscriptionSummary) -> [Fact] {
        fact("State") { spaced(StoreWords.badge(subscription.status), StoreWords.renewal(subscription)) }
        fact("Product") { Shown.identifier(subscription.productIdentifier) }
        fact("Automatic renewal") { subscription.isAutoRenewing ? "On" : "Off" }
        fact("Subscribed since") { Shown.moment(subscription.startDate) }
        fact("Paid until") { Shown.moment(subscription.expiresDate) }
        if subscription.autoRenewProductIdentifier != subscription.productIdentifier {
            fact("Product after the renewal") { Shown.identifier(subscription.autoRenewProductIdentifier) }
        }
        if let price = subscription.renewalPrice {
            fact("Next charge") {
                Shown.money(price)
                if let offer = subscription.renewalOffer {
                    plain(", ")
                    offer.title
                }
            }
        }
        if let increase = subscription.priceIncrease {
            fact("Announced price") {
                Shown.money(increase.price)
                plain(" ")
                increase.isAccepted
                    ? Shown.badge(Phrase("Accepted", context: "price"), .good)
                    : Shown.badge("Waits for consent", .warning)
            }
        }
        if let intent = subscription.expirationIntent { fact("Reason of the end") { StoreWords.title(intent) } }
        fact("First transaction") {
            a(.href(.storeTransaction(subscription.originalTransactionIdentifier))) {
                Shown.identifier(subscription.originalTransactionIdentifier)
            }
        }
    }
}
