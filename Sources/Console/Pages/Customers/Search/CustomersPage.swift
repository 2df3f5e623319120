import Features
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
        let findings = try await findings(text, page, asksAppStore: !isTyping)
        return findings.page
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

extension CustomerSearch {
    @HTMLBuilder var userTable: HTML {
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

    @HTMLBuilder var purchaseTable: HTML {
        h2 { order == .known ? "Purchases of this order" : "Purchases" }
        Listing.table("Purchases", of: foundPurchases, empty: "No purchases.") {
            column("Customer") { $0.owner }
            column("Product") { names.product($0.product) }
            column("Original transaction") { Shown.identifier($0.transaction) }
            column("State") { spaced(CustomerWords.badge($0.state), OriginWords.mark($0.origin)) }
        }
    }

    /// A purchase of the table, with or without an owner.
    private typealias FoundPurchase = (
        owner: HTML, product: String, transaction: String, state: PurchaseState, origin: Origin
    )

    private var foundPurchases: [FoundPurchase] {
        purchases.map { purchase -> FoundPurchase in
            let status = purchase.status
            let owner = purchase.owner.map { Shown.link(to: $0) } ?? HTML { "An erased customer" }
            return (
                owner, status.productIdentifier, status.originalTransactionIdentifier, status.state, status.origin
            )
        }
            + unclaimed.map { purchase in
                (
                    a(.href(purchase.path)) { "Nobody yet" }, purchase.productIdentifier,
                    purchase.originalTransactionIdentifier, .unclaimed, purchase.origin
                )
            }
    }

    @HTMLBuilder var productList: HTML {
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
