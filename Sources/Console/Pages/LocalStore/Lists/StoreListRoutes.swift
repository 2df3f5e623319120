import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The lists of the local store: transactions, payments, accounts and products.
struct StoreListRoutes: Sendable {
    /// The maximum number of unfinished payments on the first page.
    private static let maximumWaiting = 10

    let store: Store

    func add(to pages: ConsolePages) {
        pages.get("store", .store) { request, context in
            let account = try Self.account(request)
            let page = try HTTPSupport.Page(request)
            let before = try page.before()
            return try await BlockingWork.run { [store] in
                let found = try store.listedTransactions(of: account, before: before, limit: page.size + 1)
                let (shown, next) = page.part(of: found) { String($0.number) }
                let waiting = try store.queuedTransactions(
                    of: account, isUnfinished: true, limit: Self.maximumWaiting)
                return StoreTransactionListPage(
                    context: context, account: account, now: store.now, settings: try store.settings(),
                    faults: try store.faults(), payments: try waiting.map { try StoreShownPayment($0, store) },
                    transactions: shown, nextCursor: next
                ).page
            }
        }
        pages.get("store/queue", .store) { request, context in
            let account = try Self.account(request)
            let page = try HTTPSupport.Page(request)
            let before = try page.before()
            return try await BlockingWork.run { [store] in
                let found = try store.queuedTransactions(of: account, before: before, limit: page.size + 1)
                let (shown, next) = page.part(of: found) { String($0.transaction.identifier) }
                return StorePaymentQueuePage(
                    context: context, account: account, payments: try shown.map { try StoreShownPayment($0, store) },
                    nextCursor: next
                ).page
            }
        }
        pages.get("store/account", .store) { request, context in
            let account = try Self.requiredAccount(request)
            return try await BlockingWork.run { [store] in
                StoreAccountPage(
                    context: context, account: account, subscriptions: try store.subscriptions(of: account),
                    transactions: try store.listedTransactions(of: account, limit: StoreAccountPage.maximumTransactions)
                ).page
            }
        }
        // As the app reads it on the customer's device.
        pages.answer("store/account/receipt", .store) { request, _ in
            let account = try Self.requiredAccount(request)
            let receipt = try await BlockingWork.run { [store] in try store.receipt(account: account) }
            return Response(
                status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: receipt + "\n")))
        }
        pages.post("store/account/restore", .store) { _, context in
            let account = try context.form.requiredText("account", upTo: Store.maximumAccountLength)
            try await BlockingWork.run { [store] in try store.restoreCompletedTransactions(account: account) }
            return .storeAccount(account, query: ["done": Notice.restored.rawValue])
        }
        pages.get("store/products", .store) { [store] _, context in
            StoreProductsPage(products: store.configuration.products).page
        }
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

/// The products that the store sells.
struct StoreProductsPage {
    let products: [Product]

    var page: Page {
        Page(Phrase("Products for sale", "판매 중인 상품"), section: .localStore) {
            LocalStoreTab.links(.products)
            p(.class("note")) {
                Phrase(
                    "The store sells the products of its StoreKit configuration.",
                    "스토어는 StoreKit 구성 파일의 상품을 판매합니다.")
            }
            Listing.table(
                Phrase("Products for sale", "판매 중인 상품"), of: products,
                empty: Phrase("The store sells nothing.", "판매하는 상품이 없습니다.")
            ) {
                column(Phrase("Product", "상품")) {
                    data($0.localizations.first?.displayName ?? $0.referenceName)
                    br()
                    Shown.identifier($0.productIdentifier)
                }
                column(Phrase("Type", "종류")) { product in
                    product.type.title
                    if product.isFamilyShareable {
                        br()
                        small { Phrase("can be shared in a family", "가족 공유 가능") }
                    }
                }
                column(Phrase("Price", "가격")) { Shown.money($0.price) }
                column(Phrase("Subscription", "구독")) { $0.subscription.map(period) ?? Shown.nothing }
                column(Phrase("Offers", "혜택")) { offers($0.subscription?.offers ?? []) }
                column(Phrase("Buy", "구매")) { product in
                    a(.href(ConsolePath("store", "buy", query: ["product": product.productIdentifier]))) {
                        Phrase("Buy", "구매")
                        span(.class("hidden")) {
                            plain(" ")
                            data(product.productIdentifier)
                        }
                    }
                }
            }
        }
    }

    private func period(_ subscription: Subscription) -> HTML {
        HTML {
            subscription.period.words()
            br()
            small {
                data(subscription.groupName)
                plain(", ")
                Phrase("level", "단계")
                plain(" \(subscription.level)")
            }
        }
    }

    private func offers(_ offers: [SubscriptionOffer]) -> HTML {
        guard !offers.isEmpty else { return Shown.nothing }
        return ul { for offer in offers { li { StoreOfferText(offer: offer).html } } }
    }
}
