import Features
import Proofs

/// The search for customers, with its findings.
struct CustomersPage {
    let text: String
    let findings: CustomerSearch.Findings
    let names: CatalogNames

    var page: Page {
        Page("Customers", section: .customers) {
            CustomerSearchForm(text: text).html
            div(.id("results"), HTMLAttribute("aria-live", "polite")) { results }
        }
    }

    @HTMLBuilder private var results: HTML {
        if let user = findings.exact(text) {
            p {
                a(.class("button primary"), .href(.customer(user))) {
                    "Open customer"; plain(" ")
                    data(user.name)
                }
            }
        }
        if !findings.purchases.isEmpty || !findings.unclaimed.isEmpty { purchases }
        if !findings.products.isEmpty { products }
        if hasOnlyUsers || !findings.users.isEmpty { users }
    }

    private var hasOnlyUsers: Bool {
        findings.purchases.isEmpty && findings.unclaimed.isEmpty && findings.products.isEmpty
    }

    @HTMLBuilder private var users: HTML {
        h2 { text.isEmpty ? "All customers by name" : "Customers whose name begins like this" }
        Listing.table(
            "Customers", of: findings.users, empty: empty,
            next: findings.next.map {
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
        switch findings.order {
        case .notAsked: return "Nothing found."
        case .unknown, .known:
            return "Nothing found. The App Store knows no order of this number."
        case .failed:
            return "Nothing found. The App Store did not answer about an order of this number; search again later."
        }
    }

    @HTMLBuilder private var purchases: HTML {
        h2 { findings.order == .known ? "Purchases of this order" : "Purchases" }
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
        let owned = findings.purchases.map { purchase -> FoundPurchase in
            let status = purchase.status
            return (
                owner(of: purchase), status.productIdentifier, status.originalTransactionIdentifier, status.state,
                status.origin
            )
        }
        return owned
            + findings.unclaimed.map { purchase in
                (
                    a(.href(purchase.path)) { "Nobody yet" },
                    purchase.productIdentifier, purchase.originalTransactionIdentifier, .unclaimed, purchase.origin
                )
            }
    }

    private func owner(of purchase: KnownPurchase) -> HTML {
        guard let owner = purchase.owner else { return HTML { "An erased customer" } }
        return Shown.link(to: owner)
    }

    @HTMLBuilder private var products: HTML {
        h2 { "Customers by product" }
        ul {
            for product in findings.products {
                li {
                    a(.href(ConsolePath("customers", query: ["product": product.productIdentifier]))) {
                        bdi { names.product(product.productIdentifier) }
                    }
                    plain(" ")
                    Shown.identifier(product.productIdentifier)
                }
            }
        }
    }
}

/// The latest customers of a product.
struct ProductCustomersPage {
    let product: String
    let found: ProductCustomer.Page
    /// The cursor of the next page; nil for none.
    let next: String?
    let names: CatalogNames

    var page: Page {
        let name = names.product(product)
        return Page("Customers of \(CustomerWords.isolated(name))", section: .customers) {
            CustomerSearchForm(text: "").html
            div(.id("results"), HTMLAttribute("aria-live", "polite")) {
                Listing.table(
                    "The latest customers", of: found.customers,
                    empty: next == nil ? "Nobody has redeemed the product." : "The next page goes on."
                ) {
                    column("Customer") { Shown.link(to: $0.user) }
                    column("Bought") { Shown.day($0.purchaseDate) }
                    column("Redeemed") { Shown.moment($0.redeemedAt) }
                    column("Transaction") {
                        spaced(Shown.identifier($0.transactionIdentifier), OriginWords.mark($0.origin))
                    }
                }
                // A page without rows may have a next one, so the table does not show the link.
                Listing.pager(next.map { ConsolePath("customers", query: ["product": product, "cursor": $0]) })
            }
        }
    }
}
