import AppStore
import Features
import Proofs

/// The way of a purchase from the payment to the grant, as a list of steps.
struct StorePurchaseWay {
    let context: ConsoleContext
    /// The payment of the queue; nil for a renewal, which no payment began.
    let payment: PaymentTransaction?
    /// The transaction that the store has sold; nil if it sold none.
    let transactionIdentifier: String?
    let effect: PurchaseEffect?
    /// The purchases of the transaction that the service knows.
    let owners: [KnownPurchase]

    var steps: HTML {
        HTML {
            h2 { Phrase("The way of the purchase", "구매 과정") }
            ol(.class("timeline")) {
                if let payment { paymentStep(payment) }
                if let transactionIdentifier {
                    li(.class("good")) {
                        Phrase("The store has signed a proof:", "스토어가 증명에 서명했습니다:")
                        plain(" ")
                        a(.href(.storeTransaction(transactionIdentifier))) {
                            Shown.identifier(transactionIdentifier)
                        }
                    }
                    for owner in owners { redeemed(owner, transactionIdentifier) }
                    if owners.isEmpty {
                        li(.class("warning")) {
                            Phrase(
                                "The service knows nothing of it yet. The app hands the proof to the service:",
                                "서비스는 아직 이 구매를 모릅니다. 앱이 증명을 서비스에 전달합니다:")
                        }
                    }
                }
                if let payment, payment.purchase != nil { finishStep(payment) }
            }
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
                Phrase("Payment", "결제")
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
                Phrase("An earlier transaction of the purchase was redeemed by", "이 구매의 이전 거래를 지급받은 사용자:")
            } else {
                Phrase("Redeemed by", "지급받은 사용자:")
            }
            plain(" ")
            if let user = owner.owner {
                Shown.link(to: user)
            } else {
                Phrase("an erased customer", "삭제된 고객")
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
                Shown.badge(Phrase("Taken back", "회수됨"), .bad)
            }
        }
    }

    private func finishStep(_ payment: PaymentTransaction) -> HTML {
        li(.class(payment.state == .finished ? "good" : "warning")) {
            if payment.state == .finished {
                Phrase("The app has finished the transaction.", "앱이 거래를 완료했습니다.")
            } else {
                Phrase(
                    "The app has not finished the transaction. The queue delivers it at each launch.",
                    "앱이 아직 거래를 완료하지 않았습니다. 대기열이 앱을 실행할 때마다 다시 전달합니다.")
            }
        }
    }

    /// The form that plays the app, if the store has sold anything.
    var form: HTML? {
        transactionIdentifier.map { identifier in redemption(of: identifier) }
    }

    private func redemption(of transactionIdentifier: String) -> HTML {
        context.form(to: .storeTransaction(transactionIdentifier, "redeem"), .class("card narrow")) {
            Field.text(
                "user", Phrase("Redeem for the user", "지급받을 사용자"), maximumLength: User.maximumLength,
                isRequired: true,
                note: Phrase(
                    "Hands the proof to the service as the app of this user would, and finishes the transaction.",
                    "이 사용자의 앱처럼 증명을 서비스에 전달하고 거래를 완료합니다."))
            button(.class("primary")) { Phrase("Redeem", "지급받기") }
        }
    }
}
