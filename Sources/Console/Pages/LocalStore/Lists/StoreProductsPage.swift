import AppStore
import Proofs

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
                Phrase("Products for sale", "판매 중인 상품"), of: products,
                empty: Phrase("The store sells nothing.", "판매하는 상품이 없습니다.")
            ) {
                column(Phrase("Product", "상품")) {
                    data($0.localizations.first?.displayName ?? $0.referenceName)
                    br()
                    Shown.identifier($0.productIdentifier)
                }
                column(Phrase("Type", "종류")) { product in
                    product.type.title
                    if product.isFamilyShareable {
                        br()
                        small { Phrase("can be shared in a family", "가족 공유 가능") }
                    }
                }
                column(Phrase("Price", "가격")) { Shown.money($0.price) }
                column(Phrase("Subscription", "구독")) { $0.subscription.map(period) ?? Shown.nothing }
                column(Phrase("Offers", "혜택")) { offers($0.subscription?.offers ?? []) }
                column(Phrase("Buy", "구매")) { product in
                    a(.href(ConsolePath("store", "buy", query: ["product": product.productIdentifier]))) {
                        Phrase("Buy", "구매")
                        span(.class("hidden")) {
                            plain(" ")
                            data(product.productIdentifier)
                        }
                    }
                }
            }
        }
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
