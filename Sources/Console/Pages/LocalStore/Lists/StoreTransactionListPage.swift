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
    let payments: [QueuedTransaction]
    let transactions: [ListedTransaction]
    let nextCursor: String?

    var page: Page {
        Page("Local App Store", section: .localStore) {
            LocalStoreTab.links(.transactions)
            div(.class("cards")) {
                card("Store's time") {
                    p(.class("figure")) { Shown.moment(now) }
                    StoreClockPage.buttons(context)
                }
                card("Simulated conditions") {
                    StoreConditions(settings: settings, faults: faults).list
                    p { a(.href(LocalStoreTab.settings.path)) { "Change the settings" } }
                }
                card("Play a customer") {
                    p { "Buy a product, hand the proof to the service, and see what it grants." }
                    p {
                        a(
                            .class("button primary"),
                            .href(ConsolePath("store", "buy", query: ["account": account]))
                        ) { "Buy" }
                    }
                }
            }
            accountFilter(ConsolePath("store"), account)
            LocalStoreTab.live {
                if !payments.isEmpty { waiting }
                h2 { "Transactions" }
                StoreRows.transactions(
                    "Transactions, newest first", transactions,
                    empty: "The store has sold nothing yet.",
                    next: nextCursor.map { ConsolePath("store", query: ["account": account, "cursor": $0]) })
            }
        }
    }

    @HTMLBuilder private var waiting: HTML {
        h2 { "Unfinished payments" }
        StoreRows.payments("Unfinished payments, newest first", payments, context, empty: "No payment waits.")
        p { a(.href(ConsolePath("store", "queue", query: ["account": account]))) { "The whole payment queue" } }
    }
}

/// The search field that limits a list to one account.
private func accountFilter(_ path: ConsolePath, _ account: String?) -> HTML {
    form(.class("actions"), .method("get"), .action(path), .role("search")) {
        label(.for("account")) { "Account" }
        input(
            .type("search"), .id("account"), .name("account"), .value(account ?? ""),
            HTMLAttribute("maxlength", "256"), .class("narrow"))
        button { "Filter" }
        if account != nil { a(.href(path)) { "All accounts" } }
    }
}

/// The payment queues of all accounts, or of one.
struct StorePaymentQueuePage {
    let context: ConsoleContext
    let account: String?
    let payments: [QueuedTransaction]
    let nextCursor: String?

    var page: Page {
        Page("Payment queue", section: .localStore) {
            LocalStoreTab.links(.queue)
            note(
                "The queue delivers a transaction at each launch of the app until the app finishes it. A deferred payment waits for a parent; an interrupted one waits for the customer."
            )
            accountFilter(LocalStoreTab.queue.path, account)
            LocalStoreTab.live {
                StoreRows.payments(
                    "Payments, newest first", payments, context,
                    empty: "The queue is empty.",
                    next: nextCursor.map { ConsolePath("store", "queue", query: ["account": account, "cursor": $0]) })
            }
        }
    }
}
