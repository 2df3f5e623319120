import AppStore
import HTTPSupport
import Hummingbird

/// The page of the local store: its time and conditions, the list of what was bought, and the inspector of one row.
extension LocalStoreRoutes {
    /// The maximum number of payments above the transactions that wait for somebody or have failed.
    private static let maximumWaiting = 10

    var names: CatalogNames { services.names }

    func addPage(to pages: ConsolePages) {
        pages.get("store", .store) { request, context in try await page(request, context) }
    }

    private func page(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let selection = try StoreSelection(request)
        let inspector = try await BlockingWork.run {
            try store.read { try StoreInspector(selection, names, in: $0) }
        }
        var inspected = Self.invitation(selection)
        if let inspector {
            inspected = inspector.html(
                context, owners: try await owners(of: inspector.sold), user: try await redeemer(of: inspector.account),
                refusal: try request.query("refused", upTo: 64))
        }
        return try await BlockingWork.run { [inspected] in
            try page(try RequestedPage(request), selection, inspected, context)
        }
    }

    private func page(
        _ page: RequestedPage, _ selection: StoreSelection, _ inspected: HTML, _ context: ConsoleContext
    ) throws -> Page {
        let (now, settings, faults) = (store.now, try store.settings(), try store.read { try $0.state.faults() })
        let account = try selection[.account].map { try accountPart($0, context) }
        let list =
            try selection[.state] == StoreSelection.queue
            ? queue(page, selection, context) : transactions(page, selection, context)
        return LocalStoreTab.page("Local App Store", LocalStoreTab.transactions) {
            div(.class("bar")) {
                section {
                    h2 { "Store's time" }
                    a(.href(LocalStoreTab.clock.path)) { Shown.moment(now) }
                    Self.clockButtons(context)
                }
                section {
                    h2 { "Simulated conditions" }
                    Self.conditions(settings, faults)
                    a(.href(LocalStoreTab.settings.path)) { "Change the settings" }
                }
            }
            if selection.hasRow {
                p(.class("jump")) { a(.href(fragment: StoreRows.inspectorIdentifier)) { "Inspector" } }
            }
            div(.class("store")) {
                div {
                    Self.filter(selection, names)
                    account
                    LocalStoreTab.live { list }
                }
                inspected
            }
        }
    }

    /// The transactions that the filters let through, and above them the payments that have sold nothing yet.
    private func transactions(
        _ page: RequestedPage, _ selection: StoreSelection, _ context: ConsoleContext
    ) throws -> HTML {
        let (account, before) = (selection[.account], try page.before())
        let found = try store.read {
            try $0.listedTransactions(
                of: account, original: selection[.purchase], product: selection[.product],
                in: selection[.state].flatMap(ListedState.init), before: before, limit: page.size + 1)
        }
        let (shown, next) = page.part(of: found) { String($0.number) }
        let unfinished =
            try before != nil || selection.isFiltered
            ? [] : store.read { try $0.payments.page(of: account, isUnfinished: true, limit: 100) }
        let waiting = unfinished.filter { $0.transaction.purchase == nil }.prefix(Self.maximumWaiting)
        return HTML {
            if !waiting.isEmpty {
                h2 { "Unfinished payments" }
                StoreRows.payments(
                    "Unfinished payments, newest first", Array(waiting), selection, names, context)
                p { a(.href(selection.with(.state, StoreSelection.queue).path())) { "The whole payment queue" } }
            }
            h2 { "Transactions" }
            StoreRows.transactions(
                shown, selection, names,
                empty: account == nil && !selection.isFiltered
                    ? "The store has sold nothing yet." : "No transaction passes the filter.",
                next: next.map { selection.with(.cursor, $0).path() })
        }
    }

    /// The payment queues of all accounts, or of one.
    private func queue(
        _ page: RequestedPage, _ selection: StoreSelection, _ context: ConsoleContext
    ) throws -> HTML {
        let before = try page.before()
        let found = try store.read {
            try $0.payments.page(of: selection[.account], before: before, limit: page.size + 1)
        }
        let (shown, next) = page.part(of: found) { String($0.transaction.identifier) }
        return HTML {
            h2 { "Payment queue" }
            note(
                "The queue delivers a transaction at each launch of the app until the app finishes it. A deferred payment waits for a parent; an interrupted one waits for the customer."
            )
            StoreRows.payments(
                "Payments, newest first", shown, selection, names, context,
                next: next.map { selection.with(.cursor, $0).path() })
        }
    }

    private static func filter(_ selection: StoreSelection, _ names: CatalogNames) -> HTML {
        form(.class("filters"), .method("get"), .action(ConsolePath("store")), .role("search")) {
            Field.text("account", "Account", upTo: Store.maximumAccountLength, value: selection[.account] ?? "")
            Field.choice(
                "product", "Product", empty: "All products", names.products(with: selection[.product]),
                chosen: selection[.product])
            Field.choice(
                "state", "State", empty: "All states",
                ListedState.allCases.map { ($0.rawValue, StoreWords.title($0)) }
                    + [(StoreSelection.queue, "Payment queue")], chosen: selection[.state])
            button { "Filter" }
            if selection[.account] != nil || selection.isFiltered {
                a(.href(ConsolePath("store"))) { "All transactions" }
            }
        }
    }

    /// The place of the inspector before a row is chosen.
    private static func invitation(_ selection: StoreSelection) -> HTML {
        StoreRows.inspector {
            p { "Buy a product, hand the proof to the service, and see what it grants." }
            p { purchase(of: selection[.account]) }
            note("Choose a transaction of the list to see its facts and everything that can be done with it.")
        }
    }

    static func purchase(of account: String?) -> HTML {
        a(.class("button primary"), .href(ConsolePath("store", "buy", query: ["account": account]))) { "Buy" }
    }
}

/// An account of the local store: its clock, its receipt, the restoration of its purchases and its family.
extension LocalStoreRoutes {
    private static let relative = Field.text(
        "relative", "Account of the family member", upTo: Store.maximumAccountLength, isRequired: true)

    func addAccounts(to pages: ConsolePages) {
        // As the app reads it on the customer's device.
        pages.get("store/account/receipt", .store) { request, _ in
            guard let account = try StoreSelection(request)[.account] else {
                throw Problem.parameter("account", "the name of an account")
            }
            let receipt = try await BlockingWork.run { try store.read { try $0.receipt(account: account) } }
            return Response.text(receipt + "\n", type: "text/plain")
        }
        pages.postStore("store/account/restore") { _, context in
            try change(context, .restored) { try $0.restoreCompletedTransactions(account: $1) }
        }
        pages.postStore("store/account/family") { _, context in
            let relative = try context.form.requiredText("relative", upTo: Store.maximumAccountLength)
            return try change(context) { try $0.join(relative, familyOf: $1) }
        }
        pages.postStore("store/account/family/leave") { _, context in
            try change(context) { try $0.leaveFamily($1) }
        }
    }

    /// Changes the account that a form names. Returns the page with the account.
    private func change(
        _ context: ConsoleContext, _ notice: Notice = .performed, _ action: (Books, String) throws -> Void
    ) throws -> ConsolePath {
        let account = try context.form.requiredText("account", upTo: Store.maximumAccountLength)
        try store.write { try action($0, account) }
        return StoreSelection(account: account).path(done: notice)
    }

    /// The card of an account above its transactions: purchase, restoration, clock, receipt and family.
    func accountPart(_ account: String, _ context: ConsoleContext) throws -> HTML {
        let family = try store.read { try $0.family(of: account) }
        let now = try store.read { try $0.isKnown(account) ? try $0.time(of: account) : nil }
        let named = hidden("account", account)
        return section(.class("card")) {
            h2 { data(account) }
            div(.class("actions")) {
                Self.purchase(of: account)
                context.form(to: ConsolePath("store", "account", "restore")) {
                    named
                    button { "Restore purchases" }
                }
                if let now { spaced(a(.href(.storeClock(of: account))) { "Clock of the account" }, Shown.moment(now)) }
                a(.href(ConsolePath("store", "account", "receipt", query: ["account": account]))) {
                    "App receipt of the account (base64)"
                }
            }
            if let family {
                Facts.list([
                    fact("Organizer") { StoreRows.account(family.organizer) },
                    fact("Members") { spaced(by: ", ", family.members.map(StoreRows.account)) },
                ])
                context.form(to: ConsolePath("store", "account", "family", "leave"), .class("actions")) {
                    named
                    button { "Leave the family" }
                }
            }
            context.action("Add a family member", to: ConsolePath("store", "account", "family"), submit: "Add") {
                named
                Self.relative
                note(
                    "Members share what the products allow: non-consumables and active subscriptions. A member who leaves loses them."
                )
            }
        }
    }
}
