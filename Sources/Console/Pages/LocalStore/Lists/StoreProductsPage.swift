import Commerce
import Store

/// The products that the store sells.
struct StoreProductsPage {
    let products: [Product]

    var page: Page {
        Page(Phrase("Products for sale", "판매 중인 상품"), section: .localStore) {
            LocalStoreTab.links(.products)
            p(.class("note")) {
                Phrase(
                    "The store sells the products of its StoreKit configuration.",
                    "스토어는 StoreKit 구성 파일의 상품을 판매합니다.")
            }
            Listing.table(
                Phrase("Products for sale", "판매 중인 상품"),
                columns: [
                    Phrase("Product", "상품"), Phrase("Type", "종류"), Phrase("Price", "가격"),
                    Phrase("Subscription", "구독"), Phrase("Offers", "혜택"), Phrase("Buy", "구매"),
                ], rows: products.map(row), empty: Phrase("The store sells nothing.", "판매하는 상품이 없습니다."))
        }
    }

    private func row(_ product: Product) -> [HTML] {
        [
            HTML {
                data(product.localizations.first?.displayName ?? product.referenceName)
                br()
                Shown.identifier(product.productIdentifier)
            },
            HTML {
                product.type.title
                if product.isFamilyShareable {
                    br()
                    small { Phrase("can be shared in a family", "가족 공유 가능") }
                }
            },
            Shown.money(product.price),
            product.subscription.map(period) ?? Shown.nothing,
            offers(product.subscription?.offers ?? []),
            a(.href(ConsolePath("store", "buy", query: ["product": product.productIdentifier]))) {
                Phrase("Buy", "구매")
                span(.class("hidden")) {
                    plain(" ")
                    data(product.productIdentifier)
                }
            },
        ]
    }

    private func period(_ subscription: Subscription) -> HTML {
        HTML {
            subscription.period.words()
            br()
            small {
                data(subscription.groupName)
                plain(", ")
                Phrase("level", "단계")
                plain(" \(subscription.level)")
            }
        }
    }

    private func offers(_ offers: [SubscriptionOffer]) -> HTML {
        guard !offers.isEmpty else { return Shown.nothing }
        return ul { for offer in offers { li { StoreOfferText(offer: offer).html } } }
    }
}
