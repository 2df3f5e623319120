import Commerce
import Store

/// An account of the local store: its subscriptions and its latest transactions.
struct StoreAccountPage {
    /// The maximum number of transactions on the page.
    static let maximumTransactions = 20

    let context: ConsoleContext
    let account: String
    let subscriptions: [SubscriptionSummary]
    let transactions: [ListedTransaction]

    var page: Page {
        Page(Phrase("Account of the App Store", "App Store 계정"), section: .localStore) {
            LocalStoreTab.links(nil)
            p(.class("figure")) { data(account) }
            div(.class("actions")) {
                a(.class("button primary"), .href(ConsolePath("store", "buy", query: ["account": account]))) {
                    Phrase("Buy", "구매")
                }
                context.form(to: ConsolePath("store", "account", "restore")) {
                    input(.type("hidden"), .name("account"), .value(account))
                    button { Phrase("Restore purchases", "구매 복원") }
                }
            }
            LocalStoreTab.live {
                h2 { Phrase("Subscriptions", "구독") }
                if subscriptions.isEmpty {
                    p(.class("empty")) { Phrase("The account has no subscription.", "구독이 없습니다.") }
                }
                for subscription in subscriptions {
                    section(.class("card")) { SubscriptionFacts(subscription: subscription).list }
                }
                h2 { Phrase("Latest transactions", "최근 거래") }
                Listing.table(
                    Phrase("Latest transactions", "최근 거래"), columns: StoreRows.transactionColumns,
                    rows: transactions.map(StoreRows.transaction),
                    empty: Phrase("The account has bought nothing.", "구매한 것이 없습니다."))
                p {
                    a(.href(ConsolePath("store", query: ["account": account]))) {
                        Phrase("All transactions of the account", "이 계정의 모든 거래")
                    }
                }
            }
            p {
                a(.href(ConsolePath("store", "account", "receipt", query: ["account": account]))) {
                    Phrase("App receipt of the account (base64)", "이 계정의 앱 영수증 (base64)")
                }
            }
        }
    }
}

/// The facts about a subscription.
struct SubscriptionFacts {
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
                            StoreWords.title(offer)
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
