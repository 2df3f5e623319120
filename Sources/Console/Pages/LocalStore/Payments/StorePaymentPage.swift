import AppStore
import Features
import Proofs

/// A payment of the queue, with the way of its purchase.
struct StorePaymentPage {
    let context: ConsoleContext
    let shown: StoreShownPayment
    let effect: PurchaseEffect?
    let owners: [KnownPurchase]
    /// The code with which the service refused the proof; nil if it did not.
    let refusal: String?

    var page: Page {
        let payment = shown.queued.transaction
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
                StorePaymentActionForms(context: context, payment: payment, isInterrupted: shown.isInterrupted).buttons
                way.steps
            }
            way.form
        }
    }

    private var way: StorePurchaseWay {
        let payment = shown.queued.transaction
        return StorePurchaseWay(
            context: context, payment: payment, transactionIdentifier: payment.purchase?.transactionIdentifier,
            effect: effect, owners: owners)
    }

    @FactsBuilder private var facts: [Fact] {
        let payment = shown.queued.transaction
        fact("State") { StoreWords.badge(payment, isInterrupted: shown.isInterrupted) }
        fact("Effect") { effect.map(StoreWords.sentence) ?? Shown.nothing }
        fact("Account") { StoreRows.account(shown.queued.account) }
        fact("Product") { StoreRows.product(payment.payment.productIdentifier, quantity: payment.payment.quantity) }
        fact("Offer") {
            payment.payment.offer.map { offer in
                HTML {
                    offer.kind.title
                    plain(" ")
                    Shown.identifier(offer.identifier)
                }
            } ?? Shown.nothing
        }
        fact("Account token") { Shown.identifier(payment.payment.appAccountToken?.uuidString.lowercased()) }
    }
}

/// A payment of the queue, as a page shows it.
struct StoreShownPayment: Sendable {
    let queued: QueuedTransaction
    /// True if the customer can complete the payment.
    let isInterrupted: Bool

    init(_ queued: QueuedTransaction, _ store: Store) throws {
        self.queued = queued
        isInterrupted =
            queued.transaction.error == nil ? false : try store.isInterrupted(queued.transaction.identifier)
    }
}
