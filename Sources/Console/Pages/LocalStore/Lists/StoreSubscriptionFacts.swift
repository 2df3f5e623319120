import AppStore
import Proofs

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
        if subscription.nextProductIdentifier != subscription.productIdentifier {
            facts.append(
                (
                    Phrase("Product after the renewal", "갱신 후 상품"),
                    Shown.identifier(subscription.nextProductIdentifier)
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
