import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The lists of the local store: transactions, payments, accounts and products.
enum StoreListRoutes {
    /// The maximum number of unfinished payments on the first page.
    private static let maximumWaiting = 10

    static func add(to pages: StorePages) {
        pages.get("store") { request, context, store in
            let (account, page) = (try account(request), try HTTPSupport.Page(request))
            let found = try store.listedTransactions(of: account, before: try page.before(), limit: page.size + 1)
            let (shown, next) = page.part(of: found) { String($0.number) }
            let waiting = try store.queuedTransactions(of: account, isUnfinished: true, limit: maximumWaiting)
            return StoreTransactionListPage(
                context: context, account: account, now: store.now, settings: try store.settings(),
                faults: try store.faults(), payments: waiting,
                transactions: shown, nextCursor: next
            ).page
        }
        pages.get("store/queue") { request, context, store in
            let (account, page) = (try account(request), try HTTPSupport.Page(request))
            let found = try store.queuedTransactions(of: account, before: try page.before(), limit: page.size + 1)
            let (shown, next) = page.part(of: found) { String($0.transaction.identifier) }
            return StorePaymentQueuePage(
                context: context, account: account, payments: shown,
                nextCursor: next
            ).page
        }
        pages.get("store/account") { request, context, store in
            let account = try requiredAccount(request)
            return StoreAccountPage(
                context: context, account: account, subscriptions: try store.subscriptions(of: account),
                transactions: try store.listedTransactions(of: account, limit: StoreAccountPage.maximumTransactions)
            ).page
        }
        // As the app reads it on the customer's device.
        pages.pages.get("store/account/receipt", .store) { [store = pages.store] request, _ in
            let account = try requiredAccount(request)
            let receipt = try await BlockingWork.run { try store.receipt(account: account) }
            return Response(
                status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: receipt + "\n")))
        }
        pages.post("store/account/restore") { context, store in
            let account = try context.form.requiredText("account", upTo: Store.maximumAccountLength)
            _ = try store.restoreCompletedTransactions(account: account)
            return .storeAccount(account, done: .restored)
        }
        pages.get("store/products") { _, _, store in StoreProductsPage(products: store.configuration.products).page }
    }

    private static func requiredAccount(_ request: Request) throws(Problem) -> String {
        guard let account = try account(request) else { throw .parameter("account", "the name of an account") }
        return account
    }

    /// The account of a list; nil for all accounts.
    private static func account(_ request: Request) throws(Problem) -> String? {
        try request.query("account", upTo: Store.maximumAccountLength).flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// An account of the local store: its subscriptions and its latest transactions.
struct StoreAccountPage {
    /// The maximum number of transactions on the page.
    static let maximumTransactions = 20

    let context: ConsoleContext
    let account: String
    let subscriptions: [SubscriptionSummary]
    let transactions: [ListedTransaction]

    var page: Page {
        Page("Account of the App Store", section: .localStore) {
            LocalStoreTab.links(nil)
            p(.class("figure")) { data(account) }
            div(.class("actions")) {
                a(.class("button primary"), .href(ConsolePath("store", "buy", query: ["account": account]))) { "Buy" }
                context.form(to: ConsolePath("store", "account", "restore")) {
                    input(.type("hidden"), .name("account"), .value(account))
                    button { "Restore purchases" }
                }
            }
            LocalStoreTab.live {
                h2 { "Subscriptions" }
                if subscriptions.isEmpty { emptyNote("The account has no subscription.") }
                for subscription in subscriptions {
                    section(.class("card")) { Facts.list(StoreRows.facts(of: subscription)) }
                }
                h2 { "Latest transactions" }
                StoreRows.transactions("Latest transactions", transactions, empty: "The account has bought nothing.")
                p { a(.href(ConsolePath("store", query: ["account": account]))) { "All transactions of the account" } }
            }
            p {
                a(.href(ConsolePath("store", "account", "receipt", query: ["account": account]))) {
                    "App receipt of the account (base64)"
                }
            }
        }
    }
}

/// The products that the store sells.
struct StoreProductsPage {
    let products: [Product]

    var page: Page {
        Page("Products for sale", section: .localStore) {
            LocalStoreTab.links(.products)
            note("The store sells the products of its StoreKit configuration.")
            Listing.table("Products for sale", of: products, empty: "The store sells nothing.") {
                column("Product") {
                    data($0.localizations.first?.displayName ?? $0.referenceName)
                    br()
                    Shown.identifier($0.productIdentifier)
                }
                column("Type") { product in
                    product.type.title
                    if product.isFamilyShareable {
                        br()
                        small { "can be shared in a family" }
                    }
                }
                column("Price") { Shown.money($0.price) }
                column("Subscription") { $0.subscription.map(period) ?? Shown.nothing }
                column("Offers") { offers($0.subscription?.offers ?? []) }
                column("Buy") { product in
                    a(.href(ConsolePath("store", "buy", query: ["product": product.productIdentifier]))) {
                        "Buy"
                        span(.class("hidden")) {
                            plain(" ")
                            data(product.productIdentifier)
                        }
                    }
                }
            }
        }
    }

    @HTMLBuilder private func period(_ subscription: Subscription) -> HTML {
        subscription.period.words()
        br()
        small {
            data(subscription.groupName)
            plain(", ")
            "level"
            plain(" \(subscription.level)")
        }
    }

    private func offers(_ offers: [SubscriptionOffer]) -> HTML {
        guard !offers.isEmpty else { return Shown.nothing }
        return ul { for offer in offers { li { offer.words } } }
    }
}
