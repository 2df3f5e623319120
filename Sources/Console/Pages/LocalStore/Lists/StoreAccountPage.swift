import AppStore
import Proofs

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
                    section(.class("card")) { StoreSubscriptionFacts(subscription: subscription).list }
                }
                h2 { Phrase("Latest transactions", "최근 거래") }
                StoreRows.transactions(
                    Phrase("Latest transactions", "최근 거래"), transactions,
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
