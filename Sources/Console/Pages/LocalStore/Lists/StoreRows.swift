import AppStore
import Proofs

/// The tables of the local store's lists.
enum StoreRows {
    static func transactions(
        _ caption: Phrase, _ transactions: [ListedTransaction], empty: Phrase, next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: transactions, empty: empty, next: next) {
            column(Phrase("Time", "시각")) { Shown.moment($0.transaction.purchaseDate) }
            column(Phrase("Transaction", "거래")) { listed in
                a(.href(.storeTransaction(listed.transaction.transactionIdentifier))) {
                    Shown.identifier(listed.transaction.transactionIdentifier)
                }
            }
            column(Phrase("Account", "계정")) { account($0.transaction.account) }
            column(Phrase("Product", "상품")) {
                product($0.transaction.productIdentifier, quantity: $0.transaction.quantity)
            }
            column(Phrase("Price", "가격")) { Shown.money($0.transaction.price) }
            column(Phrase("State", "상태")) { StoreWords.badge($0) }
            column(Phrase("Subscription", "구독")) { listed in
                if let subscription = listed.subscription {
                    StoreWords.badge(subscription.status)
                    plain(" ")
                    StoreWords.renewal(subscription)
                } else {
                    Shown.nothing
                }
            }
        }
    }

    static func payments(
        _ caption: Phrase, _ payments: [StoreShownPayment], _ context: ConsoleContext, empty: Phrase,
        next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: payments, empty: empty, next: next) {
            column(Phrase("Number", "번호")) { shown in
                let number = shown.queued.transaction.identifier
                a(.href(.storePayment(number))) { plain("\(number)") }
            }
            column(Phrase("Account", "계정")) { account($0.queued.account) }
            column(Phrase("Product", "상품")) { shown in
                let payment = shown.queued.transaction.payment
                product(payment.productIdentifier, quantity: payment.quantity)
            }
            column(Phrase("State", "상태")) {
                StoreWords.badge($0.queued.transaction, isInterrupted: $0.isInterrupted)
            }
            column(Phrase("Next step", "다음 단계")) { shown in
                StorePaymentActionForms(
                    context: context, payment: shown.queued.transaction, isInterrupted: shown.isInterrupted
                ).buttons
            }
        }
    }

    static func account(_ name: String) -> HTML { a(.href(.storeAccount(name))) { data(name) } }

    static func product(_ identifier: String, quantity: Int) -> HTML {
        HTML {
            Shown.identifier(identifier)
            if quantity > 1 { plain(" × \(quantity)") }
        }
    }
}

/// The facts about a subscription.
struct StoreSubscriptionFacts {
    let subscription: SubscriptionSummary

    var list: HTML { Facts.list(facts) }

    private var facts: [(name: Phrase, value: HTML)] {
        var facts: [(name: Phrase, value: HTML)] = [
            (
                Phrase("State", "상태"),
                HTML {
                    StoreWords.badge(subscription.status)
                    plain(" ")
                    StoreWords.renewal(subscription)
                }
            ),
            (
                Phrase("Product", "상품"), Shown.identifier(subscription.productIdentifier)
            ),
            (
                Phrase("Automatic renewal", "자동 갱신"),
                HTML { subscription.isAutoRenewing ? Phrase("On", "켜짐") : Phrase("Off", "꺼짐") }
            ),
            (Phrase("Subscribed since", "구독 시작"), Shown.moment(subscription.startDate)),
            (Phrase("Paid until", "결제 기간 종료"), Shown.moment(subscription.expiresDate)),
        ]
        if subscription.autoRenewProductIdentifier != subscription.productIdentifier {
            facts.append(
                (
                    Phrase("Product after the renewal", "갱신 후 상품"),
                    Shown.identifier(subscription.autoRenewProductIdentifier)
                ))
        }
        if let price = subscription.renewalPrice {
            facts.append(
                (
                    Phrase("Next charge", "다음 청구"),
                    HTML {
                        Shown.money(price)
                        if let offer = subscription.renewalOffer {
                            plain(", ")
                            offer.title
                        }
                    }
                ))
        }
        if let increase = subscription.priceIncrease {
            facts.append(
                (
                    Phrase("Announced price", "예고된 가격"),
                    HTML {
                        Shown.money(increase.price)
                        plain(" ")
                        increase.isAccepted
                            ? Shown.badge(Phrase("Accepted", "동의함"), .good)
                            : Shown.badge(Phrase("Waits for consent", "동의 대기"), .warning)
                    }
                ))
        }
        if let intent = subscription.expirationIntent {
            facts.append((Phrase("Reason of the end", "종료 이유"), HTML { StoreWords.title(intent) }))
        }
        facts.append(
            (
                Phrase("First transaction", "첫 거래"),
                a(.href(.storeTransaction(subscription.originalTransactionIdentifier))) {
                    Shown.identifier(subscription.originalTransactionIdentifier)
                }
            ))
        return facts
    }
}
