import Catalog
import Proofs

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
    func formPath(_ type: ProductType) -> ConsolePath {
        switch self {
        case .new(_, let app): ConsolePath("new-product", query: ["app": app, "type": type.rawValue])
        case .existing(let address): address.path("edit")
        }
    }

    /// The receiver of the form.
    var savePath: ConsolePath {
        switch self {
        case .new(_, let app): ConsolePath("new-product", query: ["app": app])
        case .existing(let address): address.path("definition")
        }
    }

    /// The receiver that stores nothing.
    var previewPath: ConsolePath {
        switch self {
        case .new(_, let app): ConsolePath("new-product", "preview", query: ["app": app])
        case .existing(let address): address.path("preview")
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
