import Catalog
import Proofs

/// The preview of a form: its errors, or the product as it would be.
struct ProductPreview: Sendable {
    static let identifier = "preview"

    enum Result: Sendable {
        case problems([FieldProblem])
        /// The product would have the definition that it has.
        case unchanged(ProductDefinition, in: Catalog)
        case changed(ProductDefinition, in: Catalog)
    }

    let result: Result
    /// The present definition; nil for a new product.
    let base: JSONObject?

    @HTMLBuilder var content: HTML {
        switch result {
        case .problems(let problems): FieldProblem.list(problems, id: "preview-problem")
        case .unchanged(let definition, let catalog):
            p { Shown.badge("No change") }
            product(definition.product, catalog)
        case .changed(let definition, let catalog):
            p { base == nil ? Shown.badge("New product", .good) : Shown.badge("Changed", .warning) }
            product(definition.product, catalog)
            h3 { "Change of the definition" }
            DefinitionDiff(before: base, after: definition.object).html
        }
    }

    @HTMLBuilder private func product(_ product: Product, _ catalog: Catalog) -> HTML {
        let benefit = catalog.benefit(of: product.productIdentifier)
        div(.class("cards")) {
            for localization in product.localizations {
                article(.class("card"), HTMLAttribute("lang", localization.locale.replacing("_", with: "-"))) {
                    p(.class("note")) { plain(localization.locale) }
                    h3 { data(localization.displayName) }
                    p { data(localization.description) }
                    p { strong { Shown.money(product.price) } }
                }
            }
        }
        Facts.list {
            fact("Price") { Shown.money(product.price) }
            fact("Grants") { if let benefit { ProductWords.sentence(of: benefit) } else { Shown.nothing } }
            for offer in product.subscription?.offers ?? [] { fact(offer.kind.title) { ProductWords.terms(of: offer) } }
        }
        details {
            summary { "In App Store Connect" }
            AppStoreConnectChecklist(product: product, storefront: catalog.storefront).table
        }
    }
}

/// The product that a form defines: a new one, or an existing one.
enum ProductFormTarget: Sendable {
    /// - Parameter appParameter: The bundle identifier in addresses; nil if the service has one app.
    case new(App, appParameter: String?)
    case existing(ProductAddress)

    var app: App {
        switch self {
        case .new(let app, _): app
        case .existing(let address): address.app
        }
    }

    var isNew: Bool {
        if case .new = self { true } else { false }
    }

    /// The address of the form.
    func formPath(_ type: ProductType) -> ConsolePath { path("edit", type: type) }

    /// The receiver of the form.
    var savePath: ConsolePath { path("definition") }

    /// The receiver that stores nothing.
    var previewPath: ConsolePath { path("preview", of: "preview") }

    /// - Parameters:
    ///   - action: The page below that of an existing product.
    ///   - newAction: The page below that of new products; none for that page itself.
    private func path(_ action: String, of newAction: String..., type: ProductType? = nil) -> ConsolePath {
        switch self {
        case .new(_, let app):
            ConsolePath(["new-product"] + newAction, query: [("app", app), ("type", type?.rawValue)])
        case .existing(let address): address.path(action)
        }
    }

    /// The languages of the catalog's texts, such as `en_US`.
    var locales: [String] {
        var locales: [String] = []
        for localization in app.catalog.products.flatMap(\.localizations)
        where !locales.contains(localization.locale) { locales.append(localization.locale) }
        return locales.isEmpty ? ["en_US"] : locales
    }
}
