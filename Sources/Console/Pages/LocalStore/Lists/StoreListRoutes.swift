import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The lists of the local store besides its page: payments, accounts and products.
extension LocalStoreRoutes {
    /// The maximum number of transactions on the page of an account.
    private static let maximumTransactions = 20
    private static let relative = Field.text(
        "member", "Account of the family member", upTo: Store.maximumAccountLength, isRequired: true)

    func addLists(to pages: ConsolePages) {
        pages.getStore("store/queue", queue)
        pages.getStore("store/account", account)
        // As the app reads it on the customer's device.
        pages.get("store/account/receipt", .store) { request, _ in
            let account = try requiredAccount(request)
            let receipt = try await BlockingWork.run { try store.read { try $0.receipt(account: account) } }
            return Response(
                status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: receipt + "\n")))
        }
        pages.postStore("store/account/restore") { _, context in
            let account = try context.form.requiredText("account", upTo: Store.maximumAccountLength)
            try store.write { try $0.restoreCompletedTransactions(account: account) }
            return .storeAccount(account, done: .restored)
        }
        pages.postStore("store/account/family") { _, context in
            let account = try context.form.requiredText("account", upTo: Store.maximumAccountLength)
            let member = try context.form[Self.relative]
            try store.write { try $0.join(member, familyOf: account) }
            return .storeAccount(account, done: .performed)
        }
        pages.postStore("store/account/family/leave") { _, context in
            let account = try context.form.requiredText("account", upTo: Store.maximumAccountLength)
            try store.write { try $0.leaveFamily(account) }
            return .storeAccount(account, done: .performed)
        }
        pages.getStore("store/products") { _, _ in Self.products(store.configuration.products) }
    }

    private func requiredAccount(_ request: Request) throws(Problem) -> String {
        guard let account = try chosenAccount(request) else { throw .parameter("account", "the name of an account") }
        return account
    }

    /// The account of a list; nil for all accounts.
    func chosenAccount(_ request: Request) throws(Problem) -> String? {
        try request.query("account", upTo: Store.maximumAccountLength).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The payment queues of all accounts, or of one.
    private func queue(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let (account, page) = (try chosenAccount(request), try HTTPSupport.Page(request))
        let before = try page.before()
        let found = try store.read { try $0.payments.page(of: account, before: before, limit: page.size + 1) }
        let (shown, next) = page.part(of: found) { String($0.transaction.identifier) }
        return Page("Payment queue", section: .localStore) {
            LocalStoreTab.links(LocalStoreTab.queue)
            note(
                "The queue delivers a transaction at each launch of the app until the app finishes it. A deferred payment waits for a parent; an interrupted one waits for the customer."
            )
            form(.class("actions"), .method("get"), .action(LocalStoreTab.queue.path), .role("search")) {
                label(.for("account")) { "Account" }
                input(
                    .type("search"), .id("account"), .name("account"), .value(account ?? ""),
                    HTMLAttribute("maxlength", "256"), .class("narrow"))
                button { "Filter" }
                if account != nil { a(.href(LocalStoreTab.queue.path)) { "All accounts" } }
            }
            LocalStoreTab.live {
                StoreRows.payments(
                    "Payments, newest first", shown, StoreSelection(account: account), StoreNames(store), context,
                    empty: "The queue is empty.",
                    next: next.map { ConsolePath("store", "queue", query: ["account": account, "cursor": $0]) })
            }
        }
    }

    /// An account: its subscriptions and its latest transactions.
    private func account(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let account = try requiredAccount(request)
        let subscriptions = try store.read { try $0.subscriptionSummaries(of: account) }
        let now = try store.read { try $0.isKnown(account) ? try $0.time(of: account) : nil }
        let latest = try store.read { try $0.listedTransactions(of: account, limit: Self.maximumTransactions) }
        let family = try store.read { try $0.family(of: account) }
        return Page("Account of the App Store", section: .localStore) {
            LocalStoreTab.links(nil)
            p(.class("figure")) { data(account) }
            if let now {
                p {
                    spaced(
                        by: " – ", Shown.moment(now), a(.href(.storeClock(of: account))) { "Clock of the account" })
                }
            }
            div(.class("actions")) {
                Self.purchase(of: account)
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
                StoreRows.transactions(
                    "Latest transactions", latest, StoreSelection(account: account), StoreNames(store),
                    empty: "The account has bought nothing.")
                p { a(.href(ConsolePath("store", query: ["account": account]))) { "All transactions of the account" } }
            }
            Self.family(family, of: account, context)
            p {
                a(.href(ConsolePath("store", "account", "receipt", query: ["account": account]))) {
                    "App receipt of the account (base64)"
                }
            }
        }
    }

    /// The family of an account, with the forms of those who join and leave it.
    @HTMLBuilder private static func family(
        _ family: Family?, of account: String, _ context: ConsoleContext
    ) -> HTML {
        let hidden = input(.type("hidden"), .name("account"), .value(account))
        h2 { "Family" }
        if let family {
            Facts.list([
                fact("Organizer") { StoreRows.account(family.organizer) },
                fact("Members") {
                    for member in family.members { p { StoreRows.account(member) } }
                },
            ])
            context.form(to: ConsolePath("store", "account", "family", "leave"), .class("actions")) {
                hidden
                button { "Leave the family" }
            }
        } else {
            emptyNote("The account is in no family.")
        }
        context.action("Add a family member", to: ConsolePath("store", "account", "family"), submit: "Add") {
            hidden
            relative
            note(
                "Members share what the products allow: non-consumables and active subscriptions. A member who leaves loses them."
            )
        }
    }

    private static func products(_ products: [Product]) -> Page {
        Page("Products for sale", section: .localStore) {
            LocalStoreTab.links(LocalStoreTab.products)
            note("The store sells the products of its StoreKit configuration.")
            Listing.table("Products for sale", of: products, empty: "The store sells nothing.") {
                column("Product") { product in
                    bdi { product.title }
                    br()
                    Shown.identifier(product.productIdentifier)
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
                        span(.class("hidden")) { also(data(product.productIdentifier)) }
                    }
                }
            }
        }
    }

    @HTMLBuilder private static func period(_ subscription: Subscription) -> HTML {
        subscription.period.words()
        br()
        small {
            spaced(by: ", ", data(subscription.groupName), Phrase("level"))
            plain(" \(subscription.level)")
        }
    }

    private static func offers(_ offers: [SubscriptionOffer]) -> HTML {
        guard !offers.isEmpty else { return Shown.nothing }
        return ul { for offer in offers { li { offer.words } } }
    }
}
