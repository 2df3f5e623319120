import Features
import Proofs

/// The search for customers, with its findings.
struct CustomersPage {
    let text: String
    let findings: CustomerSearch.Findings
    let names: CatalogNames

    var page: Page {
        Page(Phrase("Customers", "고객"), section: .customers) {
            CustomerSearchForm(text: text).html
            div(.id("results"), HTMLAttribute("aria-live", "polite")) { results }
        }
    }

    private var results: HTML {
        HTML {
            if let user = findings.exact(text) {
                p {
                    a(.class("button primary"), .href(.customer(user))) {
                        Phrase("Open customer", "고객 열기"); plain(" ")
                        data(user.name)
                    }
                }
            }
            if !findings.purchases.isEmpty || !findings.unclaimed.isEmpty { purchases }
            if !findings.products.isEmpty { products }
            if hasOnlyUsers || !findings.users.isEmpty { users }
        }
    }

    private var hasOnlyUsers: Bool {
        findings.purchases.isEmpty && findings.unclaimed.isEmpty && findings.products.isEmpty
    }

    private var users: HTML {
        HTML {
            h2 {
                text.isEmpty
                    ? Phrase("All customers by name", "모든 고객 (이름순)")
                    : Phrase("Customers whose name begins like this", "이름이 이렇게 시작하는 고객")
            }
            Listing.table(
                Phrase("Customers", "고객"), of: findings.users, empty: empty,
                next: findings.next.map {
                    ConsolePath("customers", query: ["search": text.isEmpty ? nil : text, "cursor": $0])
                }
            ) {
                column(Phrase("Name", "이름")) { Shown.link(to: $0.user) }
                column(Phrase("Issuer", "발급자")) { CustomerWords.issuer($0.user.issuer) }
                column(Phrase("First seen", "처음 확인")) { Shown.day($0.firstSeenAt) }
            }
        }
    }

    private var empty: Phrase {
        if text.isEmpty { return Phrase("There are no customers yet.", "아직 고객이 없습니다.") }
        switch findings.order {
        case .notAsked: return Phrase("Nothing found.", "찾지 못했습니다.")
        case .unknown, .known:
            return Phrase(
                "Nothing found. The App Store knows no order of this number.", "찾지 못했습니다. App Store에도 이 번호의 주문이 없습니다.")
        case .failed:
            return Phrase(
                "Nothing found. The App Store did not answer about an order of this number; search again later.",
                "찾지 못했습니다. App Store가 이 번호의 주문에 대해 답하지 않았으니 나중에 다시 검색하세요.")
        }
    }

    private var purchases: HTML {
        HTML {
            h2 {
                findings.order == .known
                    ? Phrase("Purchases of this order", "이 주문의 구매") : Phrase("Purchases", "구매")
            }
            Listing.table(
                Phrase("Purchases", "구매"), of: foundPurchases, empty: Phrase("No purchases.", "구매가 없습니다.")
            ) {
                column(Phrase("Customer", "고객")) { $0.owner }
                column(Phrase("Product", "상품")) { names.product($0.product) }
                column(Phrase("Original transaction", "원 거래")) { Shown.identifier($0.transaction) }
                column(Phrase("State", "상태")) {
                    CustomerWords.badge($0.state)
                    plain(" ")
                    OriginWords.mark($0.origin)
                }
            }
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
                    a(.href(UnclaimedPurchasePage.path(of: purchase))) { Phrase("Nobody yet", "아직 없음") },
                    purchase.productIdentifier, purchase.originalTransactionIdentifier, .unclaimed, purchase.origin
                )
            }
    }

    private func owner(of purchase: KnownPurchase) -> HTML {
        guard let owner = purchase.owner else { return HTML { Phrase("An erased customer", "삭제된 고객") } }
        return Shown.link(to: owner)
    }

    private var products: HTML {
        HTML {
            h2 { Phrase("Customers by product", "상품별 고객") }
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
        return Page(
            Phrase(
                "Customers of \(CustomerWords.isolated(name.english))", "\(CustomerWords.isolated(name.korean)) 고객"),
            section: .customers
        ) {
            CustomerSearchForm(text: "").html
            div(.id("results"), HTMLAttribute("aria-live", "polite")) {
                Listing.table(
                    Phrase("The latest customers", "최근 고객"), of: found.customers,
                    empty: next == nil
                        ? Phrase("Nobody has redeemed the product.", "이 상품을 등록한 고객이 없습니다.")
                        : Phrase("The next page goes on.", "다음 페이지에 이어집니다.")
                ) {
                    column(Phrase("Customer", "고객")) { Shown.link(to: $0.user) }
                    column(Phrase("Bought", "구매")) { Shown.day($0.purchaseDate) }
                    column(Phrase("Redeemed", "등록")) { Shown.moment($0.redeemedAt) }
                    column(Phrase("Transaction", "거래")) {
                        Shown.identifier($0.transactionIdentifier)
                        plain(" ")
                        OriginWords.mark($0.origin)
                    }
                }
                // A page without rows may have a next one, so the table does not show the link.
                Listing.pager(next.map { ConsolePath("customers", query: ["product": product, "cursor": $0]) })
            }
        }
    }
}
