import Commerce
import Store

/// The rows of the local store's lists.
enum StoreRows {
    static let transactionColumns = [
        Phrase("Time", "시각"), Phrase("Transaction", "거래"), Phrase("Account", "계정"), Phrase("Product", "상품"),
        Phrase("Price", "가격"), Phrase("State", "상태"), Phrase("Subscription", "구독"),
    ]

    static func transaction(_ listed: ListedTransaction) -> [HTML] {
        let transaction = listed.transaction
        return [
            Shown.moment(transaction.purchaseDate),
            a(.href(.storeTransaction(transaction.transactionIdentifier))) {
                Shown.identifier(transaction.transactionIdentifier)
            },
            account(transaction.account),
            product(transaction.productIdentifier, quantity: transaction.quantity),
            Shown.money(transaction.price),
            StoreWords.badge(listed),
            listed.subscription.map { subscription in
                HTML {
                    StoreWords.badge(subscription.status)
                    plain(" ")
                    StoreWords.renewal(subscription)
                }
            } ?? Shown.nothing,
        ]
    }

    static let paymentColumns = [
        Phrase("Number", "번호"), Phrase("Account", "계정"), Phrase("Product", "상품"), Phrase("State", "상태"),
        Phrase("Next step", "다음 단계"),
    ]

    static func payment(_ shown: StoreShownPayment, _ context: ConsoleContext) -> [HTML] {
        let payment = shown.queued.transaction
        return [
            a(.href(.storePayment(payment.identifier))) { plain("\(payment.identifier)") },
            account(shown.queued.account),
            product(payment.payment.productIdentifier, quantity: payment.payment.quantity),
            StoreWords.badge(payment, isInterrupted: shown.isInterrupted),
            StorePaymentActionForms(context: context, payment: payment, isInterrupted: shown.isInterrupted).buttons,
        ]
    }

    static func account(_ name: String) -> HTML { a(.href(.storeAccount(name))) { data(name) } }

    static func product(_ identifier: String, quantity: Int) -> HTML {
        HTML {
            Shown.identifier(identifier)
            if quantity > 1 { plain(" × \(quantity)") }
        }
    }
}
