import Catalog
import HTTPSupport
import Hummingbird
import Proofs

/// The products that a list shows.
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

    /// The address of a page of the list.
    func path(cursor: String? = nil) -> ConsolePath {
        ConsolePath(
            "products",
            query: [
                "app": app?.bundleIdentifier, "type": type?.rawValue, "text": text.isEmpty ? nil : text,
                "cursor": cursor,
            ])
    }
}

/// A product of a list, with its catalog.
struct ListedProduct: Sendable {
    let product: Product
    let catalog: Catalog
    let address: ProductAddress

    var benefit: Benefit? { catalog.benefit(of: product.productIdentifier) }

    /// The name of the product in cursors.
    var name: String { "\(catalog.bundleIdentifier)\n\(product.productIdentifier)" }

    /// The name for people in a language, or the nearest text that the product has.
    func title(_ language: ConsoleLanguage) -> String {
        let names = [
            product.localization(language: language.rawValue)?.displayName ?? "", product.referenceName,
            product.productIdentifier,
        ]
        return names.first { !$0.isEmpty } ?? ""
    }

    /// The picture of the item; nil if it has none.
    var picture: HTML? {
        guard let item = benefit?.item, catalog.pictures[item] != nil else { return nil }
        return img(
            .class("picture"), .src(address.path("picture")), HTMLAttribute("alt", ""), HTMLAttribute("loading", "lazy")
        )
    }

    /// The marks of a product: withdrawn, and changed at run time.
    @HTMLBuilder var marks: HTML {
        if catalog.isWithdrawn(product.productIdentifier) {
            Shown.badge("Withdrawn", .warning)
        } else {
            Shown.badge("For sale", .good)
        }
        if catalog.isAdministered(product.productIdentifier) { also(Shown.badge("Edited")) }
    }
}

extension Apps {
    /// The bundle identifier in addresses; nil if the service has one app.
    func parameter(of app: App) -> String? { all.count == 1 ? nil : app.bundleIdentifier }
}

/// The addresses of a product's pages.
struct ProductAddress: Sendable {
    /// The longest bundle identifier, in bytes (App Store Connect).
    private static let maximumLength = 155

    let app: App
    let productIdentifier: String
    /// The bundle identifier in addresses; nil if the service has one app.
    let appParameter: String?

    init(_ productIdentifier: String, in app: App, of apps: Apps) {
        self.app = app
        self.productIdentifier = productIdentifier
        appParameter = apps.parameter(of: app)
    }

    /// The product in the path of a request, in the app that the request names or in the first app that sells it.
    init(_ request: Request, _ context: ConsoleContext, of apps: Apps) throws {
        let identifier = try context.parameters.text("product")
        let seller = apps.all.first { $0.catalog.product(identifier) != nil }
        self.init(identifier, in: try Self.app(of: request, apps) ?? seller ?? apps.first, of: apps)
    }

    /// The app that a request names; nil for none.
    ///
    /// - Throws: `Problem`, `parameterInvalid`.
    static func app(of request: Request, _ apps: Apps) throws(Problem) -> App? {
        guard let name = try request.query("app", upTo: maximumLength), !name.isEmpty else { return nil }
        guard let app = apps[name] else { throw .parameter("app", "the bundle identifier of an app of the service") }
        return app
    }

    var product: Product? { app.catalog.product(productIdentifier) }

    /// The languages of the catalog's texts, such as `en_US`.
    var locales: [String] {
        var locales: [String] = []
        for localization in app.catalog.products.flatMap(\.localizations)
        where !locales.contains(localization.locale) { locales.append(localization.locale) }
        return locales.isEmpty ? ["en_US"] : locales
    }

    /// The form of a new product in the app, or a page below it.
    func newProduct(_ rest: String..., type: ProductType? = nil) -> ConsolePath {
        ConsolePath(["new-product"] + rest, query: [("app", appParameter), ("type", type?.rawValue)])
    }

    /// The address of a page of the product.
    func path(_ rest: String..., done notice: Notice? = nil, cursor: String? = nil) -> ConsolePath {
        ConsolePath(
            ["products", productIdentifier] + rest,
            query: [("app", appParameter), ("done", notice?.rawValue), ("cursor", cursor)])
    }
}
