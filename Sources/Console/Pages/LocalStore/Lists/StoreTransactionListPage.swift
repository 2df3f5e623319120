import AppStore
import HTTPSupport
import Proofs

/// The first page of the local store: its time, the payments that wait, and the latest transactions.
struct StoreTransactionListPage {
    let context: ConsoleContext
    let account: String?
    let now: Timestamp
    let settings: StoreSettings
    let faults: [NotificationFault]
    /// The payments that the app has not finished, the newest first.
    let payments: [StoreShownPayment]
    let transactions: [ListedTransaction]
    let nextCursor: String?

    var page: Page {
        Page(Phrase("Local App Store", "로컬 App Store"), section: .localStore) {
            LocalStoreTab.links(.transactions)
            div(.class("cards")) {
                section(.class("card")) {
                    h2 { Phrase("Store's time", "스토어 시각") }
                    p(.class("figure")) { Shown.moment(now) }
                    StoreClockPage.buttons(context)
                }
                section(.class("card")) {
                    h2 { Phrase("Simulated conditions", "시뮬레이션 조건") }
                    StoreConditions(settings: settings, faults: faults).list
                    p { a(.href(LocalStoreTab.settings.path)) { Phrase("Change the settings", "설정 변경") } }
                }
                section(.class("card")) {
                    h2 { Phrase("Play a customer", "고객으로 해 보기") }
                    p {
                        Phrase(
                            "Buy a product, hand the proof to the service, and see what it grants.",
                            "상품을 구매하고, 증명을 서비스에 전달하고, 무엇이 지급되는지 확인하세요.")
                    }
                    p {
                        a(
                            .class("button primary"),
                            .href(ConsolePath("store", "buy", query: ["account": account]))
                        ) { Phrase("Buy", "구매") }
                    }
                }
            }
            StoreAccountFilter(path: ConsolePath("store"), account: account).form
            LocalStoreTab.live {
                if !payments.isEmpty { waiting }
                h2 { Phrase("Transactions", "거래") }
                StoreRows.transactions(
                    Phrase("Transactions, newest first", "거래 (최신순)"), transactions,
                    empty: Phrase("The store has sold nothing yet.", "아직 판매한 것이 없습니다."),
                    next: nextCursor.map { ConsolePath("store", query: ["account": account, "cursor": $0]) })
            }
        }
    }

    private var waiting: HTML {
        HTML {
            h2 { Phrase("Unfinished payments", "완료되지 않은 결제") }
            StoreRows.payments(
                Phrase("Unfinished payments, newest first", "완료되지 않은 결제 (최신순)"), payments, context,
                empty: Phrase("No payment waits.", "대기 중인 결제가 없습니다."))
            p {
                a(.href(ConsolePath("store", "queue", query: ["account": account]))) {
                    Phrase("The whole payment queue", "결제 대기열 전체")
                }
            }
        }
    }
}

/// The search field that limits a list to one account.
struct StoreAccountFilter {
    let path: ConsolePath
    let account: String?

    var form: HTML {
        Console.form(.class("actions"), .method("get"), .action(path), .role("search")) {
            label(.for("account")) { Phrase("Account", "계정") }
            input(
                .type("search"), .id("account"), .name("account"), .value(account ?? ""),
                HTMLAttribute("maxlength", "256"), .class("narrow"))
            button { Phrase("Filter", "필터") }
            if account != nil { a(.href(path)) { Phrase("All accounts", "모든 계정") } }
        }
    }
}

/// The payment queues of all accounts, or of one.
struct StorePaymentQueuePage {
    let context: ConsoleContext
    let account: String?
    let payments: [StoreShownPayment]
    let nextCursor: String?

    var page: Page {
        Page(Phrase("Payment queue", "결제 대기열"), section: .localStore) {
            LocalStoreTab.links(.queue)
            p(.class("note")) {
                Phrase(
                    "The queue delivers a transaction at each launch of the app until the app finishes it. A deferred "
                        + "payment waits for a parent; an interrupted one waits for the customer.",
                    "앱이 완료할 때까지 대기열은 앱을 실행할 때마다 거래를 다시 전달합니다. 연기된 결제는 보호자의 승인을, "
                        + "중단된 결제는 고객을 기다립니다.")
            }
            StoreAccountFilter(path: LocalStoreTab.queue.path, account: account).form
            LocalStoreTab.live {
                StoreRows.payments(
                    Phrase("Payments, newest first", "결제 (최신순)"), payments, context,
                    empty: Phrase("The queue is empty.", "대기열이 비어 있습니다."),
                    next: nextCursor.map { ConsolePath("store", "queue", query: ["account": account, "cursor": $0]) })
            }
        }
    }
}
