import AppStore
import HTTPSupport

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
