import Entitlements
import Features
import HTTPSupport
import Proofs

/// A list of customers with the facts by which people compare them, in one of several orders.
struct CustomerList {
    let query: CustomerQuery
    let rows: [ListedCustomer]
    /// The currencies to choose from; none if they do not matter.
    let currencies: [String]
    /// The cursor of the page, and that of the next one; nil on the first and the last page.
    let cursor: String?
    let next: String?
    private let count: Phrase

    /// Reads a page of a list.
    init(
        _ selection: CustomerSelection, currency: String? = nil, product: String? = nil, _ page: RequestedPage,
        of services: any ConsoleServices
    ) async throws {
        let (ledger, environment) = (services.ledger, services.standardEnvironment)
        let (last, now) = (try page.position { CustomerPosition($0) }, services.entitlements.clock.now())
        let (query, currencies, count, rows, next) = try await ledger.read { transaction in
            let currencies = selection == .spent ? try transaction.spentCurrencies(in: environment) : []
            let query = CustomerQuery(
                selection, in: environment, currency: currency ?? currencies.first, product: product, at: now)
            let found = try transaction.customers(query, after: last, limit: page.size)
            let rows = try transaction.listed(found.customers, in: environment)
            return (query, currencies, try transaction.count(of: query), rows, found.next)
        }
        (self.query, self.currencies, self.rows) = (query, currencies, rows)
        (self.next, cursor) = (
            next.map { RequestedPage.cursor(after: $0.description) }, page.last.map(RequestedPage.cursor)
        )
        if count <= CustomerQuery.maximumCount {
            self.count = "Customers: \(Shown.digits(count))."
        } else if [.all, .newest].contains(selection), let users = try await ledger.state().users {
            self.count = "Customers: about \(Shown.digits(users))."
        } else {
            self.count = "Customers: more than \(Shown.digits(CustomerQuery.maximumCount))."
        }
    }

    func page(_ names: CatalogNames) -> Page {
        let product = query.product.map { CustomerWords.isolated(names.product($0)) }
        return Page(product.map { "Customers of \($0)" } ?? "Customers", section: .customers) {
            CustomersRoutes.search("") {
                let lists = CustomerSelection.allCases.filter { $0 != .product }
                Tabs.choices("Lists of customers", lists, present: query.selection, title: Self.title) {
                    path(selection: $0)
                }
                if currencies.count > 1 {
                    Tabs.choices("Currencies", currencies, present: query.currency, title: { Phrase(same: $0) }) {
                        path(currency: $0)
                    }
                }
                shown
            }
            filters(ConsolePath("customers")) {
                Field.choice(
                    "product", "Customers of a product", names.products(with: query.product), chosen: query.product)
            }
            p { a(.href(ConsolePath("store-actions"))) { "Store actions" } }
        }
    }

    /// The customers of the page, their number, and the ways to the next page and to the file.
    @HTMLBuilder var shown: HTML {
        note(count)
        Self.table(
            Self.title(of: query.selection), of: rows, empty: next == nil ? empty : "The next page goes on.",
            next: next.map { path(cursor: $0) })
        if !rows.isEmpty {
            p(.class("actions")) { a(.class("button"), .href(path("csv", cursor: cursor))) { "Download as CSV" } }
        }
    }

    private var empty: Phrase {
        switch query.selection {
        case .all: "There are no customers yet."
        case .product: "Nobody has redeemed the product."
        default: "No customers."
        }
    }

    static func table(
        _ caption: Phrase, of rows: [ListedCustomer], empty: Phrase, next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: rows, empty: empty, next: next) {
            column("Name") { row in
                let user = row.known.user
                Shown.lines(Shown.link(to: user), user.issuer.isEmpty ? nil : CustomerWords.issuer(user.issuer))
            }
            column("Status") { $0.state.map(CustomerWords.badge) }
            column("Total spent") { row in
                if !row.spent.isEmpty { Phrase.joined(row.spent.map(\.phrase), separator: " · ") }
            }
            column("Last purchase") { Shown.day($0.lastPurchase) }
            column("First seen") { Shown.day($0.known.firstSeenAt) }
        }
    }

    /// The address of a list, by default this one from its start.
    private func path(
        _ segments: String..., selection: CustomerSelection? = nil, currency: String? = nil, cursor: String? = nil
    ) -> ConsolePath {
        let list = selection ?? query.selection
        return ConsolePath(
            ["customers"] + segments,
            query: [
                ("list", [.all, .product].contains(list) ? nil : list.rawValue),
                ("product", list == .product ? query.product : nil),
                ("currency", list == .spent ? currency ?? (selection == nil ? query.currency : nil) : nil),
                ("cursor", cursor),
            ])
    }

    private static func title(of selection: CustomerSelection) -> Phrase {
        switch selection {
        case .all: "All by name"
        case .newest: "Newest first"
        case .lastPurchase: "Last purchase first"
        case .spent: "Most spent first"
        case .notPaid: "In billing retry"
        case .ended: "Ended this month"
        case .product: "The latest customers"
        }
    }
}
