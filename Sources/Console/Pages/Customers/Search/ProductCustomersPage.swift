import Entitlements

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
                    Phrase("The latest customers", "최근 고객"),
                    columns: [
                        Phrase("Customer", "고객"), Phrase("Bought", "구매"), Phrase("Redeemed", "등록"),
                        Phrase("Transaction", "거래"),
                    ],
                    rows: found.customers.map { customer in
                        [
                            a(.href(.customer(customer.user))) { data(customer.user.name) },
                            Shown.day(customer.purchaseDate), Shown.moment(customer.redeemedAt),
                            HTML {
                                Shown.identifier(customer.transactionIdentifier)
                                plain(" ")
                                OriginWords.mark(customer.origin)
                            },
                        ]
                    },
                    empty: next == nil
                        ? Phrase("Nobody has redeemed the product.", "이 상품을 등록한 고객이 없습니다.")
                        : Phrase("The next page goes on.", "다음 페이지에 이어집니다."),
                    next: nil)
                if let next {
                    p(.class("pager")) {
                        a(
                            .class("button"),
                            .href(ConsolePath("customers", query: ["product": product, "cursor": next]))
                        ) { Phrase("Next page", "다음 페이지") }
                    }
                }
            }
        }
    }
}
