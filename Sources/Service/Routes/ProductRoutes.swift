import Catalog
import Commerce
import HTTPSupport
import HTTPTypes
import Hummingbird
import Profiles
import Wire

/// The catalog over HTTP; to an app, with what its user owns and wishes for.
struct ProductRoutes: Sendable {
    let catalogs: CatalogViews
    /// nil where users have none here.
    let profiles: ProfileService?

    func add(to group: RouterGroup<ServiceContext>) {
        group.get("products") { request, context in
            try list(request, context, of: try await shelf(context), wishedOnly: false)
        }
        group.get("products/:product") { request, context in
            let view = try catalogs.view(of: request, context)
            let product = try product(in: context, of: view.catalog)
            let shelf = try await shelf(context)
            let language = Language.choose(for: request, among: view.languages)
            return try JSONAnswer.cacheable(
                resource(product, in: view, language: language, shelf), for: request,
                headers: headers(language, shelf))
        }
    }

    /// What a request's own user has to do with the products; nil where it comes from a back end.
    private func shelf(_ context: ServiceContext) async throws -> Shelf? {
        guard let profiles, case .app(let user, _) = context.caller else { return nil }
        return try await profiles.shelf(of: user)
    }

    /// The products that are asked for.
    ///
    /// - Parameter wishedOnly: Whether they are those that are wished for, the last first where nothing else is asked for.
    func list(
        _ request: Request,
        _ context: ServiceContext,
        of shelf: Shelf?,
        wishedOnly: Bool
    ) throws -> Response {
        let view = try catalogs.view(of: request, context)
        let query = try ProductQuery(
            request, collections: view.catalog.collections, standard: wishedOnly ? "-wished" : "number")
        let page = try Page(request)
        let language = Language.choose(for: request, among: view.languages)
        let last = page.last.map(ListEnd.init)
        // The last of the page before has its place in the list though nobody sells it or wishes for it any more.
        let listed = view.catalog.products.filter(query.matches)
            .map { resource($0, in: view, language: language, shelf) }
            .filter { $0.productId == last?.product || $0.isWithdrawn == nil && (!wishedOnly || $0.isWished == true) }
        func wishedAt(_ product: String) -> Timestamp? {
            product == last?.product ? last?.wishedAt : shelf?.wishedAt(product)
        }
        var products = query.apply(to: listed, wishedAt: wishedAt)[...]
        if let last {
            guard let index = products.firstIndex(where: { $0.productId == last.product }) else {
                throw Problem.parameter("cursor", "of an answer to the same query")
            }
            products = products[(index + 1)...]
        }
        let (shown, next) = page.part(of: products) {
            ListEnd(product: $0.productId, wishedAt: wishedAt($0.productId)).text
        }
        return try JSONAnswer.cacheable(
            ProductList(products: shown, nextCursor: next), for: request, headers: headers(language, shelf))
    }

    /// The last product of a page, and when it was wished for: where the next page begins.
    private struct ListEnd {
        let product: String
        let wishedAt: Timestamp?

        init(product: String, wishedAt: Timestamp?) {
            self.product = product
            self.wishedAt = wishedAt
        }

        init(_ text: String) {
            let parts = text.split(separator: "\n", maxSplits: 1)
            product = parts.first.map(String.init) ?? ""
            wishedAt = parts.dropFirst().first.flatMap { Int64($0) }.map(Timestamp.init(millisecondsSince1970:))
        }

        var text: String { product + (wishedAt.map { "\n\($0.millisecondsSince1970)" } ?? "") }
    }

    /// The product that a request's path names, of those that are sold.
    ///
    /// - Throws: `Problem`, `productNotFound`.
    func productForSale(_ request: Request, _ context: ServiceContext) throws -> Product {
        let catalog = try catalogs.view(of: request, context).catalog
        let product = try product(in: context, of: catalog)
        guard !catalog.isWithdrawn(product.productIdentifier) else { throw Self.notFound }
        return product
    }

    private func product(in context: ServiceContext, of catalog: Catalog) throws -> Product {
        guard let product = catalog.product(try context.parameters.text("product")) else { throw Self.notFound }
        return product
    }

    private static let notFound = Problem(
        status: .notFound, code: "productNotFound", detail: "The catalog sells no product of this identifier.")

    private func resource(
        _ product: Product,
        in view: CatalogView,
        language: String?,
        _ shelf: Shelf?
    ) -> ProductResource {
        let benefit = view.catalog.benefit(of: product.productIdentifier)
        return ProductResource(
            product, benefit: benefit, localization: product.localization(language: language ?? ""),
            picture: benefit?.item.flatMap { view.pictures[$0] },
            shelf: shelf.map { ($0.owns(benefit), $0.wishedAt(product.productIdentifier)) },
            isWithdrawn: view.catalog.isWithdrawn(product.productIdentifier))
    }

    private func headers(_ language: String?, _ shelf: Shelf?) -> HTTPFields {
        // Asked anew each time, so that a changed catalog shows at once; what is a user's own is kept for nobody else.
        var headers: HTTPFields = [
            .vary: "Accept-Language", .cacheControl: shelf == nil ? "no-cache" : "private, no-cache",
        ]
        if let language { headers[.contentLanguage] = language }
        return headers
    }
}
