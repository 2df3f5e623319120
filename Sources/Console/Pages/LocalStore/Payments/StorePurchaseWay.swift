import AppStore
import Features
import Proofs

/// The way of a purchase from the payment to the grant, as a list of steps.
struct StorePurchaseWay {
    let context: ConsoleContext
    /// The payment of the queue; nil for a renewal, which no payment began.
    private let payment: PaymentTransaction?
    /// The transaction that the store has sold; nil if it sold none.
    private let transactionIdentifier: String?
    let effect: PurchaseEffect?
    /// The purchases of the transaction that the service knows.
    private let owners: [KnownPurchase]

    init(
        _ context: ConsoleContext, _ queued: QueuedTransaction?, sold: String? = nil, effect: PurchaseEffect?,
        owners: [KnownPurchase]
    ) {
        self.context = context
        payment = queued?.transaction
        transactionIdentifier = sold ?? payment?.purchase?.transactionIdentifier
        self.effect = effect
        self.owners = owners
    }

    @HTMLBuilder var steps: HTML {
        h2 { "The way of the purchase" }
        ol(.class("timeline")) {
            if let payment { paymentStep(payment) }
            if let transactionIdentifier {
                li(.class("good")) {
                    "The store has signed a proof:"
                    plain(" ")
                    StoreRows.transaction(transactionIdentifier)
                }
                for owner in owners { redeemed(owner, transactionIdentifier) }
                if owners.isEmpty {
                    li(.class("warning")) {
                        "The service knows nothing of it yet. The app hands the proof to the service:"
                    }
                }
            }
            if let payment, payment.purchase != nil { finishStep(payment) }
        }
    }

    private func paymentStep(_ payment: PaymentTransaction) -> HTML {
        let mood: Shown.Mood =
            switch payment.state {
            case .failed: .bad
            case .finished: payment.purchase == nil ? .bad : .good
            case .purchased, .restored: .good
            case .purchasing, .deferred: .warning
            }
        return li(.class(mood.rawValue)) {
            a(.href(.storePayment(payment.identifier))) {
                "Payment"
                plain(" \(payment.identifier)")
            }
            plain(": ")
            if let effect {
                StoreWords.sentence(effect)
            } else {
                StoreWords.title(payment.state)
            }
            if let error = payment.error {
                plain(" ")
                code { plain(error.name) }
            }
        }
    }

    private func redeemed(_ owner: KnownPurchase, _ transactionIdentifier: String) -> HTML {
        let known = owner.transactions.first { $0.transactionIdentifier.hasSameBytes(as: transactionIdentifier) }
        return li(.class(known?.revocationDate == nil ? "good" : "bad")) {
            if known == nil {
                "An earlier transaction of the purchase was redeemed by"
            } else {
                "Redeemed by"
            }
            plain(" ")
            if let user = owner.owner {
                Shown.link(to: user)
            } else {
                "an erased customer"
            }
            if let known {
                plain(", ")
                Shown.moment(known.redeemedAt)
            }
            if !owner.items.isEmpty {
                plain(": ")
                data(owner.items.map(\.description).joined(separator: ", "))
            }
            if known?.revocationDate != nil {
                plain(" ")
                Shown.badge("Taken back", .bad)
            }
        }
    }

    private func finishStep(_ payment: PaymentTransaction) -> HTML {
        li(.class(payment.state == .finished ? "good" : "warning")) {
            if payment.state == .finished {
                "The app has finished the transaction."
            } else {
                "The app has not finished the transaction. The queue delivers it at each launch."
            }
        }
    }

    /// The form that plays the app, if the store has sold anything.
    @HTMLBuilder var form: HTML {
        if let transactionIdentifier {
            context.form(to: .storeTransaction(transactionIdentifier, "redeem"), .class("card narrow")) {
                StorePurchaseForm.user.html()
                button(.class("primary")) { "Redeem" }
            }
        }
    }
}
