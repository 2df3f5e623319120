import Features

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
