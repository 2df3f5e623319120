import Entitlements

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
                Phrase("Customers", "고객"),
                columns: [Phrase("Name", "이름"), Phrase("Issuer", "발급자"), Phrase("First seen", "처음 확인")],
                rows: findings.users.map { known in
                    [
                        a(.href(.customer(known.user))) { data(known.user.name) },
                        CustomerWords.issuer(known.user.issuer), Shown.day(known.firstSeenAt),
                    ]
                },
                empty: empty,
                next: findings.next.map {
                    ConsolePath("customers", query: ["search": text.isEmpty ? nil : text, "cursor": $0])
                })
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
                Phrase("Purchases", "구매"),
                columns: [
                    Phrase("Customer", "고객"), Phrase("Product", "상품"), Phrase("Original transaction", "원 거래"),
                    Phrase("State", "상태"),
                ],
                rows: findings.purchases.map { purchase in
                    let status = purchase.status
                    return [
                        owner(of: purchase), HTML { names.product(status.productIdentifier) },
                        Shown.identifier(status.originalTransactionIdentifier),
                        HTML {
                            CustomerWords.badge(status.state)
                            plain(" ")
                            OriginWords.mark(status.origin)
                        },
                    ]
                }
                    + findings.unclaimed.map { purchase in
                        [
                            a(.href(UnclaimedPurchasePage.path(of: purchase))) {
                                Phrase("Nobody yet", "아직 없음")
                            },
                            HTML { names.product(purchase.productIdentifier) },
                            Shown.identifier(purchase.originalTransactionIdentifier),
                            HTML {
                                CustomerWords.badge(.unclaimed)
                                plain(" ")
                                OriginWords.mark(purchase.origin)
                            },
                        ]
                    },
                empty: Phrase("No purchases.", "구매가 없습니다."))
        }
    }

    private func owner(of purchase: KnownPurchase) -> HTML {
        guard let owner = purchase.owner else { return HTML { Phrase("An erased customer", "삭제된 고객") } }
        return a(.href(.customer(owner))) { data(owner.name) }
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
