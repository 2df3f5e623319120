import Catalog
import Features
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

extension ProductsRoutes {
    func list(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let (filter, page) = (try ProductFilter(request, apps), try RequestedPage(request))
        let found = filter.products(of: apps)
        let (shown, next) = page.part(of: try page.rest(of: found) { $0.name }) { $0.name }
        return Page("Products", section: .products) {
            if services.administration != nil {
                p(.class("actions")) {
                    if context.may(.catalog) {
                        for app in apps.all {
                            catalogLink("New product", "new-product", of: app, .class("button primary"))
                        }
                    }
                    for app in apps.all {
                        catalogLink("History of the catalog", "catalog-history", of: app, .class("button"))
                    }
                }
            } else {
                CatalogSwitch.note
            }
            filters(ConsolePath("products"), submit: "Filter", HTMLAttribute("data-live", "product-list")) {
                Field.text("text", "Name, identifier or item", value: filter.text)
                Field.choice(
                    "type", "Type", empty: "All types",
                    ProductType.allCases.map { ($0.rawValue, $0.title) }, chosen: filter.type?.rawValue)
                Field.app(apps.all.map(\.bundleIdentifier), empty: "All apps", chosen: filter.app?.bundleIdentifier)
            }
            div(.id("product-list")) {
                note("Products: \(found.count)")
                Listing.table(
                    "Products", of: shown, empty: "No product matches.",
                    next: next.map { filter.path(cursor: $0) }
                ) {
                    column("Product") { listed in
                        div(.class("pictured")) {
                            listed.picture
                            div {
                                a(.href(listed.address.path())) { data(listed.title(context.language)) }
                                div { Shown.identifier(listed.product.productIdentifier) }
                            }
                        }
                    }
                    column("Type") { $0.product.type.title }
                    column("Names") { Self.names($0.product) }
                    column("Price") { Shown.money($0.product.price) }
                    column("Grants") { $0.benefit.map(ProductWords.sentence) }
                    column("Group and period") { $0.product.subscription.map(Self.subscription) }
                    column("State") { $0.marks }
                    if apps.all.count > 1 { column("App") { Shown.identifier($0.catalog.bundleIdentifier) } }
                }
            }
        }
    }

    /// A link to a page about the catalog of an app, which it names if the service has several.
    private func catalogLink(_ title: Phrase, _ page: String, of app: App, _ kind: HTMLAttribute) -> HTML {
        let name = apps.parameter(of: app)
        return a(kind, .href(ConsolePath(page, query: ["app": name]))) {
            title
            if let name { also(data(name), by: " · ") }
        }
    }

    private static func names(_ product: Product) -> HTML? {
        guard !product.localizations.isEmpty else { return nil }
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

    @HTMLBuilder private static func subscription(_ subscription: Subscription) -> HTML {
        data(subscription.groupName.isEmpty ? subscription.groupIdentifier : subscription.groupName)
        also(subscription.period.words(), by: " · ")
        plain(" · ")
        "level \(subscription.level)"
    }
}

/// The note on a catalog that only its files define.
enum CatalogSwitch {
    static var note: HTML {
        p(.class("note")) {
            "Products are read from the files of the catalog and cannot be changed here. To change them here, start the service with:"
            also(code { plain("till serve --catalog-administration") })
        }
    }
}

enum ProductWords {
    /// The benefit of a product, as a sentence without a full stop.
    static func sentence(of benefit: Benefit) -> Phrase {
        switch benefit {
        case .item(let item): "\(item) for good"
        case .itemFor(let item, let period): "\(item) for \(period.words()) from the purchase"
        case .itemWhilePaid(let item): "\(item) while it is paid"
        case .credit(let credit): "\(Shown.digits(credit.amount)) of the balance \(credit.balance)"
        }
    }

    /// The price and length of an offer.
    static func terms(of offer: SubscriptionOffer) -> Phrase {
        let price = offer.price?.phrase ?? ""
        let (each, total) = (offer.period.words(), offer.period.words(times: offer.periodCount))
        return switch offer.paymentMode {
        case .freeTrial: "free for \(total)"
        case .payAsYouGo: "\(price) each \(each), for \(total)"
        case .payUpFront: "\(price) once, for \(total)"
        }
    }

    /// The customers of an offer; nothing for an offer without a limit.
    static func titles(of customers: Set<SubscriptionOffer.Eligibility>?) -> Phrase? {
        guard let customers else { return nil }
        let titles = SubscriptionOffer.Eligibility.allCases.filter(customers.contains).map { each -> Phrase in
            switch each {
            case .new: "new"
            case .existing: "existing"
            case .expired: "expired"
            }
        }
        return titles.isEmpty ? "none" : Phrase.joined(titles, separator: ", ")
    }
}

struct ProductFilter: Sendable {
    /// The only app; nil for all.
    let app: App?
    /// The only type; nil for all.
    let type: ProductType?
    /// A part of a product's identifier, names or item. Empty for all products.
    let text: String

    /// - Throws: `Problem`, `parameterInvalid`.
    init(_ request: Request, _ apps: Apps) throws(Problem) {
        app = try ProductAddress.app(of: request, apps)
        let name = try request.query("type") ?? ""
        type = ProductType(rawValue: name)
        guard name.isEmpty || type != nil else { throw .parameter("type", "the type of a product") }
        text = try request.query("text") ?? ""
    }

    /// The products of all apps, in the order of the catalogs.
    func products(of apps: Apps) -> [ListedProduct] {
        apps.all.filter { app == nil || $0.bundleIdentifier == app?.bundleIdentifier }.flatMap { app in
            let catalog = app.catalog
            return catalog.products.filter { matches($0, in: catalog) }.map { product in
                ListedProduct(
                    product: product, catalog: catalog,
                    address: ProductAddress(product.productIdentifier, in: app, of: apps))
            }
        }
    }

    private func matches(_ product: Product, in catalog: Catalog) -> Bool {
        guard type == nil || product.type == type else { return false }
        guard !text.isEmpty else { return true }
        let texts =
            [product.productIdentifier, product.referenceName, product.subscription?.groupName ?? ""]
            + product.localizations.map(\.displayName)
            + [catalog.benefit(of: product.productIdentifier).map { ProductWords.sentence(of: $0).english } ?? ""]
        let wanted = Array(text.lowercased().utf8)
        return texts.contains { Array($0.lowercased().utf8).contains(wanted) }
    }

    func path(cursor: String? = nil) -> ConsolePath {
        ConsolePath(
            "products",
            query: [
                "app": app?.bundleIdentifier, "type": type?.rawValue, "text": text.isEmpty ? nil : text,
                "cursor": cursor,
            ])
    }
}
