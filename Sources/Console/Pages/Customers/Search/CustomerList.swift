import Features
import HTTPSupport
import Proofs

/// A list of customers with the facts by which people compare them: all, the newest, those who did not pay, and those who left.
struct CustomerList {
    let selection: CustomerSelection
    let rows: [ListedCustomer]
    /// The cursor of the page, and that of the next one; nil on the first and the last page.
    let cursor: String?
    let next: String?
    /// The number of all customers, which is approximate in PostgreSQL; nil if it is unknown.
    let count: Int64?

    /// Reads a page of a list.
    init(_ selection: CustomerSelection, _ page: HTTPSupport.Page, of services: any ConsoleServices) async throws {
        let (ledger, environment) = (services.entitlements.ledger, services.standardEnvironment)
        let (users, next): ([KnownUser], String?)
        if selection == .all {
            (users, next) = try await page.list(at: \.position) { last, limit in
                try await ledger.read { try $0.users(matching: "", after: last?.user, limit: limit) }
            }
        } else {
            let (last, now) = (try page.position { RecordPosition($0) }, services.entitlements.clock.now())
            let found = try await ledger.read {
                try $0.customers(selection, from: environment.origins, at: now, after: last, limit: page.size)
            }
            (users, next) = (found.customers, found.next.map { HTTPSupport.Page.cursor(after: $0.description) })
        }
        (self.selection, self.next, cursor) = (selection, next, page.last.map(HTTPSupport.Page.cursor))
        rows = try await ledger.read { try $0.listed(users, inSandbox: environment == .sandbox) }
        count = [.all, .newest].contains(selection) ? try await ledger.state().users : nil
    }

    func page(_ names: CatalogNames) -> Page {
        Page("Customers", section: .customers) {
            CustomersRoutes.search("") {
                Tabs.choices("Lists of customers", CustomerSelection.allCases, present: selection, title: Self.title) {
                    Self.path(selection: $0)
                }
                if let count { note("About \(Shown.digits(count)) customers.") }
                Self.table(
                    Self.title(of: selection), of: rows,
                    empty: next != nil
                        ? "The next page goes on."
                        : selection == .all ? "There are no customers yet." : "No customers.",
                    next: next.map { Self.path(selection: selection, cursor: $0) })
                if !rows.isEmpty {
                    p(.class("actions")) {
                        a(.class("button"), .href(Self.path("csv", selection: selection, cursor: cursor))) {
                            "Download as CSV"
                        }
                    }
                }
            }
            filters(ConsolePath("customers")) {
                Field.choice("product", "Customers of a product", names.products(with: nil))
            }
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
                if row.spent.isEmpty { Shown.nothing }
                Phrase.joined(row.spent.map(\.phrase), separator: " · ")
                if !row.isComplete { plain(" +") }
            }
            column("Last purchase") { Shown.day($0.lastPurchase) }
            column("First seen") { Shown.day($0.known.firstSeenAt) }
        }
    }

    private static func path(_ segments: String..., selection: CustomerSelection, cursor: String? = nil) -> ConsolePath
    {
        ConsolePath(
            ["customers"] + segments,
            query: [("list", selection == .all ? nil : selection.rawValue), ("cursor", cursor)])
    }

    private static func title(of selection: CustomerSelection) -> Phrase {
        switch selection {
        case .all: "All by name"
        case .newest: "Newest first"
        case .notPaid: "In billing retry"
        case .ended: "Ended this month"
        }
    }
}
