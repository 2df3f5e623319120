import Catalog
import Commerce
import HTTPTypes
import Hummingbird

/// The catalog over HTTP.
struct ProductRoutes: Sendable {
    let catalog: Catalog
    private let pictures: PictureAddresses
    private let languages: [String]

    init(catalog: Catalog, pictures: PictureAddresses) {
        self.catalog = catalog
        self.pictures = pictures
        languages = catalog.languages
    }

    func add(to group: RouterGroup<ServiceContext>) {
        group.get("products") { request, _ in try list(request) }
        group.get("products/:product") { request, context in
            try product(try context.parameters.require("product"), request)
        }
    }

    private struct List: Encodable {
        let products: [ProductResource]
        /// What `cursor` has to be for the next page; absent on the last.
        let nextCursor: String?
    }

    private func list(_ request: Request) throws -> Response {
        let query = try ProductQuery(request, collections: catalog.collections)
        let page = try Page(request)
        let language = Language.choose(for: request, among: languages)
        var products = query.apply(to: catalog.products.map { resource($0, language: language) })[...]
        if let last = page.last {
            guard let index = products.firstIndex(where: { $0.productId == last }) else {
                throw Problem.parameter("cursor", "of an answer to the same query")
            }
            products = products[(index + 1)...]
        }
        let shown = Array(products.prefix(page.size))
        let isLast = shown.count == products.count
        return try JSONAnswer.cacheable(
            List(
                products: shown,
                nextCursor: isLast ? nil : shown.last.map { Page.cursor(after: $0.productId) }),
            for: request, headers: headers(language: language))
    }

    private func product(_ identifier: String, _ request: Request) throws -> Response {
        guard let product = identifier.removingPercentEncoding.flatMap(catalog.product) else {
            throw Problem(
                status: .notFound, code: "productNotFound", detail: "The catalog has no product of this identifier.")
        }
        let language = Language.choose(for: request, among: languages)
        return try JSONAnswer.cacheable(
            resource(product, language: language), for: request, headers: headers(language: language))
    }

    private func resource(_ product: Product, language: String?) -> ProductResource {
        let benefit = catalog.benefit(of: product.productIdentifier)
        return ProductResource(
            product, benefit: benefit, localization: product.localization(language: language ?? ""),
            picture: benefit?.item.flatMap { pictures[$0] })
    }

    private func headers(language: String?) -> HTTPFields {
        // Asked anew each time, so that a changed catalog shows at once.
        var headers: HTTPFields = [.vary: "Accept-Language", .cacheControl: "no-cache"]
        if let language { headers[.contentLanguage] = language }
        return headers
    }
}
