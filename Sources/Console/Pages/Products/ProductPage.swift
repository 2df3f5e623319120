import Catalog
import Features
import Proofs

/// The page of a product: everything the catalog knows about it, and the actions on it.
struct ProductPage {
    let context: ConsoleContext
    let listed: ListedProduct
    let isAdministered: Bool

    private var product: Product { listed.product }
    private var address: ProductAddress { listed.address }

    var page: Page {
        Page(Phrase(same: listed.title(context.language)), section: .products) {
            section(.class("card")) {
                if listed.picture != nil {
                    img(
                        .class("picture large"), .src(address.path("picture")),
                        HTMLAttribute("alt", Phrase("Picture of the item", "아이템 그림")))
                }
                Facts.list(facts)
                links
            }
            if isAdministered {
                if context.may(.catalog) { ProductActions(context: context, listed: listed).html }
            } else {
                CatalogSwitch.note
            }
            h2 { Phrase("Texts", "텍스트") }
            texts
            if product.subscription != nil {
                h2 { Phrase("Offers", "혜택") }
                offers
            }
            h2 { Phrase("In App Store Connect", "App Store Connect") }
            p(.class("note")) {
                Phrase(
                    "App Store Connect must have the same product. Till cannot see it; compare each entry.",
                    "App Store Connect에도 같은 상품이 있어야 합니다. Till은 이를 볼 수 없으니 항목을 하나씩 비교하세요.")
            }
            AppStoreConnectChecklist(product: product, storefront: listed.catalog.storefront).table
            h2 { Phrase("Definition", "정의") }
            definition
        }
    }

    private var links: HTML {
        p(.class("actions")) {
            a(.class("button"), .href(ConsolePath("customers", query: ["product": product.productIdentifier]))) {
                Phrase("Latest customers", "최근 고객")
            }
            if isAdministered {
                a(.class("button"), .href(address.path("history"))) { Phrase("History", "변경 기록") }
            }
        }
    }

    private var facts: [(name: Phrase, value: HTML)] {
        var facts: [(name: Phrase, value: HTML)] = [
            (Phrase("Product identifier", "상품 식별자"), Shown.identifier(product.productIdentifier)),
            (Phrase("State", "상태"), listed.marks),
            (Phrase("App", "앱"), Shown.identifier(listed.catalog.bundleIdentifier)),
            (Phrase("Type", "유형"), HTML { product.type.title }),
            (Phrase("Reference name", "참조 이름"), data(product.referenceName)),
            (
                Phrase("Price", "가격"),
                HTML {
                    Shown.money(product.price)
                    plain(" · " + listed.catalog.storefront.countryCode)
                }
            ),
            (
                Phrase("Grants", "제공"),
                listed.benefit.map { benefit in HTML { ProductWords.sentence(of: benefit) } } ?? Shown.nothing
            ),
            (
                Phrase("Family Sharing", "가족 공유"),
                HTML { product.isFamilyShareable ? Phrase("on", "켬") : Phrase("off", "끔") }
            ),
        ]
        guard let subscription = product.subscription else { return facts }
        facts += [
            (
                Phrase("Subscription group", "구독 그룹"),
                HTML {
                    data(subscription.groupName)
                    plain(" ")
                    Shown.identifier(subscription.groupIdentifier)
                }
            ),
            (Phrase("Level in the group", "그룹 내 레벨"), plain(String(subscription.level))),
            (Phrase("Period", "기간"), HTML { subscription.period.words() }),
        ]
        return facts
    }

    private var texts: HTML {
        Listing.table(
            Phrase("Texts in each language", "언어별 텍스트"), of: product.localizations,
            empty: Phrase("The product has no texts.", "상품에 텍스트가 없습니다.")
        ) {
            column(Phrase("Language", "언어")) { plain($0.locale) }
            column(Phrase("Name", "이름")) { data($0.displayName) }
            column(Phrase("Description", "설명")) { data($0.description) }
        }
    }

    private var offers: HTML {
        Listing.table(
            Phrase("Offers", "혜택"), of: product.subscription?.offers ?? [],
            empty: Phrase("The subscription has no offers.", "구독에 혜택이 없습니다.")
        ) {
            column(Phrase("Kind", "종류")) { $0.kind.title }
            column(Phrase("Identifier", "식별자")) { Shown.identifier($0.identifier) }
            column(Phrase("Terms", "조건")) { ProductWords.terms(of: $0) }
            column(Phrase("Customers", "고객")) { eligibility($0.eligibility) }
        }
    }

    private func eligibility(_ customers: Set<SubscriptionOffer.Eligibility>?) -> HTML {
        guard let customers else { return Shown.nothing }
        let titles = SubscriptionOffer.Eligibility.allCases.filter(customers.contains).map {
            ProductWords.title(of: $0)
        }
        guard !titles.isEmpty else { return HTML { Phrase("none", "없음") } }
        return HTML {
            Phrase(
                titles.map(\.english).joined(separator: ", "), titles.map(\.korean).joined(separator: ", "))
        }
    }

    @HTMLBuilder private var definition: HTML {
        if let object = listed.catalog.definition(of: product.productIdentifier) {
            details {
                summary { Phrase("Show the definition as JSON", "정의를 JSON으로 보기") }
                pre(.id("definition")) { plain(JSONValue.object(object).prettyText) }
            }
            p(.class("actions")) {
                Shown.copyButton(for: "definition")
            }
        }
    }
}
