import AppStore
import Features
import Proofs

/// A payment of the queue, with the way of its purchase.
struct StorePaymentPage {
    let context: ConsoleContext
    let queued: QueuedTransaction
    let effect: PurchaseEffect?
    let owners: [KnownPurchase]
    /// The code with which the service refused the proof; nil if it did not.
    let refusal: String?

    var page: Page {
        let payment = queued.transaction
        return Page("Payment \(payment.identifier)", section: .localStore) {
            LocalStoreTab.links(nil)
            if let refusal {
                div(.class("problem"), .role("alert")) {
                    p {
                        "The store sold the product, but the service refused the proof:"
                        plain(" ")
                        Shown.identifier(refusal)
                    }
                }
            }
            LocalStoreTab.live {
                section(.class("card")) { Facts.list(facts) }
                paymentActions(queued.actions, on: payment, context)
                way.steps
            }
            way.form
        }
    }

    private var way: StorePurchaseWay {
        let payment = queued.transaction
        return StorePurchaseWay(
            context: context, payment: payment, transactionIdentifier: payment.purchase?.transactionIdentifier,
            effect: effect, owners: owners)
    }

    @FactsBuilder private var facts: [Fact] {
        let payment = queued.transaction
        fact("State") { StoreWords.badge(queued) }
        fact("Effect") { effect.map(StoreWords.sentence) ?? Shown.nothing }
        fact("Account") { StoreRows.account(queued.account) }
        fact("Product") { StoreRows.product(payment.payment.productIdentifier, quantity: payment.payment.quantity) }
        fact("Offer") {
            payment.payment.offer.map { offer in
                HTML { spaced(offer.kind.title, Shown.identifier(offer.identifier)) }
            } ?? Shown.nothing
        }
        fact("Account token") { Shown.identifier(payment.payment.appAccountToken?.uuidString.lowercased()) }
    }
}
