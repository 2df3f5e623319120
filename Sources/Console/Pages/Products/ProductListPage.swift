import Catalog
import Features
import Proofs

/// The list of products.
struct ProductListPage {
    let context: ConsoleContext
    let apps: Apps
    let filter: ProductFilter
    let products: [ListedProduct]
    /// The number of all products that the filter selects.
    let count: Int
    let next: ConsolePath?
    let isAdministered: Bool

    var page: Page {
        Page(Phrase("Products", "상품"), section: .products) {
            if isAdministered {
                p(.class("actions")) {
                    if context.may(.catalog) {
                        for app in apps.all { newProduct(of: app) }
                    }
                    for app in apps.all { history(of: app) }
                }
            } else {
                CatalogSwitch.note
            }
            filterForm
            div(.id("product-list")) {
                p(.class("note")) { Phrase("Products: \(count)", "상품 \(count)개") }
                table
            }
        }
    }

    private func newProduct(of app: App) -> HTML {
        a(.class("button primary"), .href(ConsolePath("new-product", query: ["app": name(app)]))) {
            Phrase("New product", "새 상품")
            suffix(app)
        }
    }

    private func history(of app: App) -> HTML {
        a(.class("button"), .href(ConsolePath("catalog-history", query: ["app": name(app)]))) {
            Phrase("History of the catalog", "카탈로그 변경 기록")
            suffix(app)
        }
    }

    private func suffix(_ app: App) -> HTML? {
        name(app).map { name in
            HTML {
                plain(" · "); data(name)
            }
        }
    }

    private func name(_ app: App) -> String? { apps.all.count == 1 ? nil : app.bundleIdentifier }

    private var filterForm: HTML {
        form(
            .class("actions"), .method("get"), .action(ConsolePath("products")),
            HTMLAttribute("data-live", "product-list")
        ) {
            Field.text("text", Phrase("Name, identifier or item", "이름, 식별자 또는 아이템"), value: filter.text)
            Field.choice(
                "type", Phrase("Type", "유형"), empty: Phrase("All types", "모든 유형"),
                ProductType.allCases.map { ($0.rawValue, $0.title) }, chosen: filter.type?.rawValue)
            if apps.all.count > 1 {
                Field.choice(
                    "app", Phrase("App", "앱"), empty: Phrase("All apps", "모든 앱"),
                    apps.all.map { ($0.bundleIdentifier, Phrase(same: $0.bundleIdentifier)) },
                    chosen: filter.app?.bundleIdentifier)
            }
            button { Phrase("Filter", "거르기") }
        }
    }

    private var table: HTML {
        Listing.table(
            Phrase("Products", "상품"), of: products, empty: Phrase("No product matches.", "일치하는 상품이 없습니다."),
            next: next
        ) {
            column(Phrase("Picture", "그림")) { $0.picture ?? Shown.nothing }
            column(Phrase("Product", "상품")) { listed in
                a(.href(listed.address.path())) { data(listed.title(context.language)) }
                br()
                Shown.identifier(listed.product.productIdentifier)
            }
            column(Phrase("Type", "유형")) { $0.product.type.title }
            column(Phrase("Names", "이름")) { names($0.product) }
            column(Phrase("Price", "가격")) { Shown.money($0.product.price) }
            column(Phrase("Grants", "제공")) { listed in
                if let benefit = listed.benefit { ProductWords.sentence(of: benefit) } else { Shown.nothing }
            }
            column(Phrase("Group and period", "그룹과 기간")) {
                $0.product.subscription.map(subscription) ?? Shown.nothing
            }
            column(Phrase("State", "상태")) { $0.marks }
            if apps.all.count > 1 {
                column(Phrase("App", "앱")) { Shown.identifier($0.catalog.bundleIdentifier) }
            }
        }
    }

    private func names(_ product: Product) -> HTML {
        guard !product.localizations.isEmpty else { return Shown.nothing }
        return ul(.class("plain")) {
            for localization in product.localizations {
                li {
                    data(localization.locale)
                    plain(": ")
                    span(HTMLAttribute("lang", localization.locale.replacing("_", with: "-"))) {
                        data(localization.displayName)
                    }
                }
            }
        }
    }

    private func subscription(_ subscription: Subscription) -> HTML {
        HTML {
            data(subscription.groupName.isEmpty ? subscription.groupIdentifier : subscription.groupName)
            plain(" · ")
            subscription.period.words()
            plain(" · ")
            Phrase("level \(subscription.level)", "레벨 \(subscription.level)")
        }
    }
}

/// The note on a catalog that only its files define.
enum CatalogSwitch {
    static var note: HTML {
        p(.class("note")) {
            Phrase(
                "Products are read from the files of the catalog and cannot be changed here. To change them here, start the service with:",
                "상품은 카탈로그 파일에서 읽으므로 여기서 바꿀 수 없습니다. 여기서 바꾸려면 서비스를 이렇게 시작하세요:")
            plain(" ")
            code { plain("till serve --catalog-administration") }
        }
    }
}

/// The words for products, in each language.
enum ProductWords {
    /// The benefit of a product, as a sentence without a full stop.
    static func sentence(of benefit: Benefit) -> Phrase {
        switch benefit {
        case .item(let item): Phrase("\(item) for good", "\(item) 영구 소유")
        case .itemFor(let item, let period):
            Phrase(
                "\(item) for \(period.words().english) from the purchase",
                "구매일부터 \(period.words().korean) 동안 \(item)")
        case .itemWhilePaid(let item): Phrase("\(item) while it is paid", "구독료가 결제되는 동안 \(item)")
        case .credit(let credit):
            Phrase(
                "\(Shown.digits(Int64(credit.amount))) of the balance \(credit.balance)",
                "잔액 \(credit.balance) \(Shown.digits(Int64(credit.amount))) 추가")
        }
    }

    /// The price and length of an offer.
    static func terms(of offer: SubscriptionOffer) -> Phrase {
        let price = offer.price?.formatted ?? ""
        let (each, total) = (offer.period.words(), offer.period.words(times: offer.periodCount))
        return switch offer.paymentMode {
        case .freeTrial: Phrase("free for \(total.english)", "\(total.korean) 무료")
        case .payAsYouGo:
            Phrase(
                "\(price) each \(each.english), for \(total.english)", "\(total.korean) 동안 \(each.korean)마다 \(price)")
        case .payUpFront: Phrase("\(price) once, for \(total.english)", "\(total.korean)에 \(price) 선결제")
        }
    }

    static func title(of customers: SubscriptionOffer.Eligibility) -> Phrase {
        switch customers {
        case .new: Phrase("new", "신규")
        case .existing: Phrase("existing", "기존")
        case .expired: Phrase("expired", "만료")
        }
    }

    static func title(of kind: CatalogChange.Kind) -> Phrase {
        switch kind {
        case .defined: Phrase("Defined", "정의")
        case .reverted: Phrase("Reverted to the files", "파일의 정의로 복원")
        case .withdrawn: Phrase("Withdrawn from sale", "판매 중단")
        case .restored: Phrase("Returned to sale", "판매 재개")
        case .pictured: Phrase("New picture", "새 그림")
        }
    }
}
