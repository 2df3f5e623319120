import Catalog
import HTTPSupport
import Hummingbird
import Proofs

/// The addresses of a product's pages. One without a product is the address of the whole catalog.
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
        appParameter = apps.all.count == 1 ? nil : app.bundleIdentifier
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

    /// The address of a page of the product.
    func path(_ rest: String..., done notice: Notice? = nil, cursor: String? = nil) -> ConsolePath {
        ConsolePath(
            ["products", productIdentifier] + rest,
            query: [("app", appParameter), ("done", notice?.rawValue), ("cursor", cursor)])
    }
}
