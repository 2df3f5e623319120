import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The page of the local store: its time and conditions, the list of what was bought, and the inspector of one row.
extension LocalStoreRoutes {
    /// The maximum number of payments above the list that wait for somebody or have failed.
    private static let maximumWaiting = 10

    func addPage(to pages: ConsolePages) {
        pages.get("store", .store) { request, context in try await storePage(request, context) }
    }

    private func storePage(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let selection = try StoreSelection(request)
        let names = StoreNames(store)
        let inspector = try await BlockingWork.run {
            try store.read { try StoreInspector(selection, names, in: $0) }
        }
        var inspected: HTML?
        if let inspector {
            inspected = inspector.html(
                context, owners: try await owners(of: inspector.sold), user: try await redeemer(of: inspector.account),
                refusal: try request.query("refused", upTo: 64))
        }
        return try await BlockingWork.run { [inspected] in
            let list = try list(try HTTPSupport.Page(request), selection, names, context)
            let bar = try bar(context)
            return Page("Local App Store", section: .localStore) {
                LocalStoreTab.links(LocalStoreTab.transactions)
                bar
                div(.class("store")) {
                    div {
                        Self.filter(selection, names)
                        LocalStoreTab.live { list }
                    }
                    inspected ?? Self.invitation(selection)
                }
            }
        }
    }

    /// The time of the store with its buttons, and what its settings simulate.
    private func bar(_ context: ConsoleContext) throws -> HTML {
        let (now, settings) = (store.now, try store.settings())
        let faults = try store.read { try $0.state.faults() }
        return div(.class("bar")) {
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
    }

    /// The payments that have sold nothing yet, and the transactions that the filters let through.
    private func list(
        _ page: HTTPSupport.Page, _ selection: StoreSelection, _ names: StoreNames, _ context: ConsoleContext
    ) throws -> HTML {
        let before = try page.before()
        let found = try store.read {
            try $0.listedTransactions(
                of: selection[.account], original: selection[.purchase], product: selection[.product],
                in: selection.state,
                before: before, limit: page.size + 1)
        }
        let (shown, next) = page.part(of: found) { String($0.number) }
        let isFirst = before == nil && !selection.isFiltered
        let unfinished =
            try isFirst
            ? store.read { try $0.payments.page(of: selection[.account], isUnfinished: true, limit: 100) } : []
        let waiting = unfinished.filter { $0.transaction.purchase == nil }.prefix(Self.maximumWaiting)
        return HTML {
            if !waiting.isEmpty {
                h2 { "Unfinished payments" }
                StoreRows.payments(
                    "Unfinished payments, newest first", Array(waiting), selection, names, context,
                    empty: "No payment waits.")
                p {
                    a(.href(ConsolePath("store", "queue", query: ["account": selection[.account]]))) {
                        "The whole payment queue"
                    }
                }
            }
            h2 { "Transactions" }
            StoreRows.transactions(
                "Transactions, newest first", shown, selection, names,
                empty: selection[.account] == nil && !selection.isFiltered
                    ? "The store has sold nothing yet." : "No transaction passes the filter.",
                next: next.map { selection.with(.cursor, $0).path() })
        }
    }

    private static func filter(_ selection: StoreSelection, _ names: StoreNames) -> HTML {
        form(.class("filters"), .method("get"), .action(ConsolePath("store")), .role("search")) {
            div(.class("field")) {
                label(.for("account")) { "Account" }
                input(
                    .type("search"), .id("account"), .name("account"), .value(selection[.account] ?? ""),
                    HTMLAttribute("maxlength", "256"))
            }
            Field.choice(
                "product", "Product", empty: "All products", names.choices(with: selection[.product]),
                chosen: selection[.product])
            Field.choice(
                "state", "State", empty: "All states",
                ListedState.allCases.map { ($0.rawValue, StoreWords.title($0)) }, chosen: selection.state?.rawValue)
            button { "Filter" }
            if selection[.account] != nil || selection.isFiltered {
                a(.href(ConsolePath("store"))) { "All transactions" }
            }
        }
    }

    /// The place of the inspector before a row is chosen.
    private static func invitation(_ selection: StoreSelection) -> HTML {
        section(.class("card inspector"), .id("inspector"), .ariaLabel("Inspector")) {
            h2 { "Play a customer" }
            p { "Buy a product, hand the proof to the service, and see what it grants." }
            p { purchase(of: selection[.account]) }
            note("Choose a transaction of the list to see its facts and everything that can be done with it.")
        }
    }

    static func purchase(of account: String?) -> HTML {
        a(.class("button primary"), .href(ConsolePath("store", "buy", query: ["account": account]))) { "Buy" }
    }
}
