import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

extension CustomersRoutes {
    func search(_ request: Request) async throws -> Page {
        let page = try HTTPSupport.Page(request)
        if let product = try request.query("product") { return try await customers(of: product, page) }
        let text = (try request.query("search") ?? "").trimmingCharacters(in: .whitespaces)
        // The script searches at every key. Only a person who sends the form waits for the App Store.
        let isTyping = HTTPField.Name.secFetchDest.flatMap { request.headers[$0] } == "empty"
        var search = CustomerSearch(text: text, names: names)
        try await search.find(in: services, page, asksAppStore: !isTyping)
        return search.page
    }

    /// The latest customers of a product.
    private func customers(of product: String, _ page: HTTPSupport.Page) async throws -> Page {
        let position = try page.position { ProductCustomer.Position($0) }
        let found = try await services.entitlements.ledger.read {
            try $0.customers(ofProduct: product, after: position, limit: page.size)
        }
        let name = names.product(product)
        return Page("Customers of \(CustomerWords.isolated(name))", section: .customers) {
            Self.search("") {
                Listing.table(
                    "The latest customers", of: found.customers,
                    empty: found.next == nil ? "Nobody has redeemed the product." : "The next page goes on."
                ) {
                    column("Customer") { Shown.link(to: $0.user) }
                    column("Bought") { Shown.day($0.purchaseDate) }
                    column("Redeemed") { Shown.moment($0.redeemedAt) }
                    column("Transaction") {
                        spaced(Shown.identifier($0.transactionIdentifier), OriginWords.mark($0.origin))
                    }
                }
                // A page without rows may have a next one, so the table does not show the link.
                Listing.pager(
                    found.next.map {
                        let cursor = HTTPSupport.Page.cursor(after: $0.description)
                        return ConsolePath("customers", query: ["product": product, "cursor": cursor])
                    })
            }
        }
    }

    /// The field that searches for customers, and its results, which follow the typing.
    @HTMLBuilder static func search(_ text: String, @HTMLBuilder results: () -> HTML) -> HTML {
        form(
            .class("card"), .role("search"), .ariaLabel("Find a customer"), .method("get"),
            .action(ConsolePath("customers")),
            HTMLAttribute("data-live", "results")
        ) {
            div(.class("field")) {
                label(.for("customer-search")) { "User name, account token, transaction, order or product" }
                input(
                    .type("search"), .id("customer-search"), .name("search"), .value(text),
                    HTMLAttribute("maxlength", "256"), HTMLAttribute("autocomplete", "off"))
            }
            button(.class("primary")) { "Search" }
        }
        div(.id("results"), HTMLAttribute("aria-live", "polite")) { results() }
    }
}

/// The search for customers: by the beginning of a name, an account token, a transaction, an original transaction, an order or
/// a product. Its values are the findings for a text.
struct CustomerSearch {
    /// The answer of the App Store about an order of this number.
    enum Order: Sendable {
        case notAsked
        case unknown
        case known
        /// The App Store did not answer.
        case failed
    }

    /// The minimum length of an order number, in bytes. Shorter texts are not sent to the App Store.
    private static let minimumOrderLength = 8
    /// The largest number of unclaimed purchases shown.
    private static let maximumUnclaimed = 20

    let text: String
    let names: CatalogNames
    var users: [KnownUser] = []
    var purchases: [KnownPurchase] = []
    var unclaimed: [UnclaimedPurchase] = []
    /// The products whose name or identifier contains the text.
    var products: [Product] = []
    var order = Order.notAsked
    /// The cursor of the next users; nil for none.
    var next: String?

    /// The only customer that the text identifies; nil if there is none or if there are several.
    private var exact: User? {
        var owners = Set(purchases.compactMap(\.owner))
        let name = text.precomposedStringWithCanonicalMapping
        let token = UUID(uuidString: text)
        owners.formUnion(
            users.filter { $0.appAccountToken == token || $0.user.name.hasSameBytes(as: name) }.map(\.user))
        return owners.count == 1 ? owners.first : nil
    }

    /// Finds what the text names.
    ///
    /// - Parameters:
    ///   - page: The page of the users.
    ///   - asksAppStore: True to look an unknown text up as an order.
    mutating func find(in services: any ConsoleServices, _ page: HTTPSupport.Page, asksAppStore: Bool) async throws {
        (users, next) = try await page.list(at: \.position) { [text] last, limit in
            try await services.entitlements.ledger.read {
                try $0.users(matching: text, after: last?.user, limit: limit)
            }
        }
        guard !text.isEmpty, page.last == nil else { return }
        products = names.products(matching: text)
        try await add([text], of: services)
        let isUnknown = users.isEmpty && purchases.isEmpty && unclaimed.isEmpty
        guard isUnknown, asksAppStore, text.utf8.count >= Self.minimumOrderLength, let orders = services.orders else {
            return
        }
        do {
            let transactions = try await orders(text)
            order = transactions.isEmpty ? .unknown : .known
            try await add(transactions, of: services)
        } catch is ReconciliationError {
            order = .failed
        }
    }

    private mutating func add(_ transactions: [String], of services: any ConsoleServices) async throws {
        for transaction in transactions {
            purchases += try await services.entitlements.purchases(ofTransaction: transaction)
            unclaimed += try await services.entitlements.unclaimedPurchases(
                ofTransaction: transaction, after: nil, limit: Self.maximumUnclaimed)
        }
    }

    var page: Page {
        Page("Customers", section: .customers) {
            CustomersRoutes.search(text) {
                if let exact {
                    p {
                        a(.class("button primary"), .href(.customer(exact))) {
                            spaced(Phrase("Open customer"), data(exact.name))
                        }
                    }
                }
                let hasPurchases = !purchases.isEmpty || !unclaimed.isEmpty
                if hasPurchases { purchaseTable }
                if !products.isEmpty { productList }
                if !users.isEmpty || !hasPurchases && products.isEmpty { userTable }
            }
        }
    }

    @HTMLBuilder private var userTable: HTML {
        h2 { text.isEmpty ? "All customers by name" : "Customers whose name begins like this" }
        Listing.table(
            "Customers", of: users, empty: empty,
            next: next.map {
                ConsolePath("customers", query: ["search": text.isEmpty ? nil : text, "cursor": $0])
            }
        ) {
            column("Name") { Shown.link(to: $0.user) }
            column("Issuer") { CustomerWords.issuer($0.user.issuer) }
            column("First seen") { Shown.day($0.firstSeenAt) }
        }
    }

    private var empty: Phrase {
        if text.isEmpty { return "There are no customers yet." }
        switch order {
        case .notAsked: return "Nothing found."
        case .unknown, .known:
            return "Nothing found. The App Store knows no order of this number."
        case .failed:
            return "Nothing found. The App Store did not answer about an order of this number; search again later."
        }
    }

    @HTMLBuilder private var purchaseTable: HTML {
        h2 { order == .known ? "Purchases of this order" : "Purchases" }
        Listing.table("Purchases", of: foundPurchases, empty: "No purchases.") {
            column("Customer") { $0.owner }
            column("Product") { names.product($0.product) }
            column("Original transaction") { Shown.identifier($0.transaction) }
            column("State") { spaced($0.state, OriginWords.mark($0.origin)) }
        }
    }

    private var foundPurchases: [(owner: HTML, product: String, transaction: String, state: HTML, origin: Origin)] {
        purchases.map { purchase in
            let (status, owner) = (purchase.status, purchase.owner.map { Shown.link(to: $0) })
            return (
                owner ?? HTML { "An erased customer" }, status.productIdentifier, status.originalTransactionIdentifier,
                CustomerWords.badge(status.state), status.origin
            )
        }
            + unclaimed.map { purchase in
                (
                    a(.href(purchase.path)) { "Nobody yet" }, purchase.productIdentifier,
                    purchase.originalTransactionIdentifier, CustomerWords.badge(.unclaimed), purchase.origin
                )
            }
    }

    @HTMLBuilder private var productList: HTML {
        h2 { "Customers by product" }
        ul {
            for product in products {
                li {
                    a(.href(ConsolePath("customers", query: ["product": product.productIdentifier]))) {
                        bdi { names.product(product.productIdentifier) }
                    }
                    also(Shown.identifier(product.productIdentifier))
                }
            }
        }
    }
}
