import Catalog
import Entitlements
import Features
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

/// The pages of products. Those that change a product exist only with an administered catalog.
struct ProductsRoutes: Sendable {
    let services: any ConsoleServices

    var apps: Apps { services.entitlements.apps }

    func add(to pages: ConsolePages) {
        pages.get("products") { request, context in try list(request, context) }
        pages.get("products/:product") { request, context in try await product(request, context) }
        pages.get("products/:product/picture") { request, context in try picture(request, context) }
        pages.get("products/:product/retention") { request, context in try await retention(request, context) }
        guard let administration = services.administration else { return }
        let changes = ProductChangeRoutes(catalog: administration, entitlements: services.entitlements)
        changes.addHistory(to: pages)
        changes.addActions(to: pages)
        changes.addForms(to: pages)
    }

    private func product(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let address = try ProductAddress(request, context, of: apps)
        let catalog = address.app.catalog
        if let product = catalog.product(address.productIdentifier) {
            return page(of: ListedProduct(product: product, catalog: catalog, address: address), context)
        }
        let changes = try await services.administration?.changes(
            .of(product: address.productIdentifier), in: address.app, before: nil, limit: 1)
        guard changes?.isEmpty == false else { throw CatalogChangeError.productNotFound }
        return Page(Phrase(same: address.productIdentifier), section: .products) {
            p { "The product was removed from the catalog." }
            p { a(.class("button"), .href(address.path("history"))) { "History" } }
        }
    }

    /// The picture of a product's item. The pictures of the API may be on another port.
    private func picture(_ request: Request, _ context: ConsoleContext) throws -> Response {
        let address = try ProductAddress(request, context, of: apps)
        let catalog = address.app.catalog
        guard let item = catalog.benefit(of: address.productIdentifier)?.item, let picture = catalog.pictures[item]
        else {
            throw Problem(
                status: .notFound, code: "pictureNotFound", detail: "The catalog has no picture of this item.")
        }
        return picture.response(to: request)
    }
}

/// The changes of products: their histories, the actions on a product, and its forms.
struct ProductChangeRoutes: Sendable {
    let catalog: CatalogService
    /// It names the API keys.
    let entitlements: EntitlementService

    /// Adds the actions on a product: picture, withdrawal, return to sale, and the definition of the files.
    func addActions(to pages: ConsolePages) {
        func post(
            _ action: String, _ perform: @Sendable @escaping (ProductAddress, ConsoleContext) async throws -> Notice
        ) {
            pages.post(RouterPath("products/:product/" + action), .catalog) { request, context in
                let address = try ProductAddress(request, context, of: catalog.apps)
                return address.path(done: try await perform(address, context))
            }
        }
        for (action, isWithdrawn) in [("withdrawal", true), ("return", false)] {
            post(action) { address, context in
                let caller = try context.caller
                try await catalog.make {
                    try catalog.setWithdrawn(isWithdrawn, address.productIdentifier, in: address.app, by: caller)
                }
                return isWithdrawn ? .withdrawn : .restored
            }
        }
        post("picture") { address, context in
            let (caller, bytes) = (try context.caller, context.form.bytes("picture") ?? [])
            let picture = try await BlockingWork.process(bytes.count) {
                do throws(CatalogError) { return try Picture(bytes: bytes, file: "picture") } catch {
                    throw CatalogChangeError.pictureInvalid(error)
                }
            }
            try await catalog.make {
                try catalog.setPicture(picture, of: address.productIdentifier, in: address.app, by: caller)
            }
            return .saved
        }
        pages.post("products/:product/reversion", .catalog) { request, context in
            let address = try ProductAddress(request, context, of: catalog.apps)
            let caller = try context.caller
            try await catalog.make {
                try await catalog.revert(.product(address.productIdentifier), in: address.app, by: caller)
            }
            // The files may not have the product.
            return address.product == nil
                ? ConsolePath("products", done: .removed) : address.path(done: .restored)
        }
    }
}

extension CatalogService {
    /// Makes a change to the present catalog.
    ///
    /// - Throws: `Problem`, `tooBusy`; the errors of `perform`.
    @discardableResult
    func make(_ prepare: () async throws -> Pending?) async throws -> Outcome {
        guard let outcome = try await perform(prepare) else { throw Problem.tooBusy }
        return outcome
    }
}

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
        guard let name = try request.chosen("app", upTo: maximumLength) else { return nil }
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

    func path(_ rest: String..., done notice: Notice? = nil, cursor: String? = nil) -> ConsolePath {
        ConsolePath(
            ["products", productIdentifier] + rest,
            query: [("app", appParameter), ("done", notice?.rawValue), ("cursor", cursor)])
    }
}
