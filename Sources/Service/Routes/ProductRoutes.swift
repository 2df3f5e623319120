import Catalog
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Routes for the catalog. Apps also get the state of each product for their user: owned or wished for.
struct ProductRoutes: OperationGroup {
    static let tag = OperationTag(
        "Products", "The catalog, as an app shows it.",
        [.listProducts, .readProduct])
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listProducts) { request, context in
            let userState = try await userState(context)
            guard userState == nil else { return try list(request, context, of: userState, wishedOnly: false) }
            let view = try catalogs.view(of: request, context)
            let language = Language.choose(for: request, among: view.languages)
            return try view.answers.answer(to: request, in: language) {
                try products(request, in: view, language: language, of: nil, wishedOnly: false).json()
            }.response(to: request, headers: headers(language, nil))
        }
        group.on(.readProduct) { request, context in
            let view = try catalogs.view(of: request, context)
            let product = try product(in: context, of: view.catalog)
            let userState = try await userState(context)
            let language = Language.choose(for: request, among: view.languages)
            return JSONAnswer.cacheable(
                try resource(product, in: view, language: language, userState).json(), for: request,
                headers: headers(language, userState))
        }
    }

    /// The purchases and wishes of the caller's user; nil for a back end.
    private func userState(_ context: ServiceContext) async throws -> UserProductState? {
        guard let profiles = till.profiles, case .app(let user, _) = context.caller else { return nil }
        return try await profiles.productState(of: user)
    }

    /// A page of the requested products.
    ///
    /// - Parameters:
    ///   - wishedOnly: True for the wish list, sorted by the newest wish unless the request says otherwise.
    func list(
        _ request: Request,
        _ context: ServiceContext,
        of userState: UserProductState?,
        wishedOnly: Bool,
        about unknownUser: UnknownUser? = nil
    ) throws -> Response {
        let view = try catalogs.view(of: request, context)
        let language = Language.choose(for: request, among: view.languages)
        let json = try products(request, in: view, language: language, of: userState, wishedOnly: wishedOnly).json()
        return JSONAnswer.cacheable(
            try unknownUser?.json(beside: json) ?? json, for: request, headers: headers(language, userState))
    }

    private func products(
        _ request: Request, in view: CatalogView, language: String?, of userState: UserProductState?, wishedOnly: Bool
    ) throws -> List<ProductResource> {
        let query = try ProductQuery(
            request, collections: view.catalog.collections, standard: wishedOnly ? "-wished" : "number")
        let page = try RequestedPage(request)
        let last = page.last.map(ListEnd.init)
        // The last product of the previous page keeps its place, even if it was withdrawn or is no longer wished for.
        let listed = view.catalog.products.filter(query.matches)
            .map { resource($0, in: view, language: language, userState) }
            .filter { product in
                if product.productId == last?.product { return true }
                return product.isWithdrawn == nil && (!wishedOnly || product.isWished == true)
            }
        func wishedAt(_ product: String) -> Timestamp? {
            product == last?.product ? last?.wishedAt : userState?.wishedAt(product)
        }
        var products = query.apply(to: listed, wishedAt: wishedAt)[...]
        if let last {
            guard let index = products.firstIndex(where: { $0.productId == last.product }) else {
                throw Problem.parameter("cursor", "the nextCursor of an answer to the same query")
            }
            products = products[(index + 1)...]
        }
        let (shown, next) = page.part(of: products) {
            ListEnd(product: $0.productId, wishedAt: wishedAt($0.productId)).text
        }
        return List(shown, nextCursor: next)
    }

    /// The end of a page: its last product and the time of its wish. The next page begins there.
    fileprivate struct ListEnd {
        let product: String
        let wishedAt: Timestamp?

        var text: String { product + (wishedAt.map { "\n\($0.millisecondsSince1970)" } ?? "") }
    }

    /// The product in a request's path, if it is for sale.
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
        status: .notFound, code: "productNotFound", detail: "The catalog has no product for sale with this identifier.")

    private func resource(
        _ product: Product,
        in view: CatalogView,
        language: String?,
        _ userState: UserProductState?
    ) -> ProductResource {
        let benefit = view.catalog.benefit(of: product.productIdentifier)
        return ProductResource(
            product, benefit: benefit, localization: product.localization(language: language ?? ""),
            picture: benefit?.item.flatMap { view.pictures[$0] },
            userState: userState.map { ($0.owns(benefit), $0.wishedAt(product.productIdentifier)) },
            isWithdrawn: view.catalog.isWithdrawn(product.productIdentifier))
    }

    private func headers(_ language: String?, _ userState: UserProductState?) -> HTTPFields {
        // Clients revalidate each time, so a changed catalog is visible at once. Shared caches must not store a user's data.
        var headers = HTTPFields()
        headers.reserveForAnswer()
        headers[.vary] = "Accept-Language"
        headers[.cacheControl] = userState == nil ? "no-cache" : "private, no-cache"
        if let language { headers[.contentLanguage] = language }
        return headers
    }
}

extension ProductRoutes.ListEnd {
    init(_ text: String) {
        let parts = text.split(separator: "\n", maxSplits: 1)
        product = parts.first.map(String.init) ?? ""
        wishedAt = parts.dropFirst().first.flatMap { Int64($0) }.map(Timestamp.init(millisecondsSince1970:))
    }
}

/// The requested products and their order: the query parameters `collection`, `search` and `sort`.
struct ProductQuery {
    /// The key that orders products.
    enum Order: String, CaseIterable {
        case number
        case price
        case name
        /// The time of the user's wish.
        case wished
    }

    let collection: String?
    let search: String?
    let order: Order
    let isDescending: Bool

    /// - Parameters:
    ///   - collections: Those of the catalog.
    ///   - standard: The order without the parameter `sort`.
    /// - Throws: `Problem`, `parameterInvalid`.
    init(_ request: Request, collections: [String], standard: String = Order.number.rawValue) throws(Problem) {
        collection = try request.query("collection")
        if let collection, !collections.contains(where: { $0.hasSameBytes(as: collection) }) {
            throw .parameter("collection", "one of \(collections.joined(separator: ", "))")
        }
        search = try request.query("search", upTo: 400)
        if let search, !(1...100).contains(search.count) { throw .parameter("search", "of 1 to 100 characters") }
        let sort = try request.query("sort") ?? standard
        isDescending = sort.hasPrefix("-")
        guard let order = Order(rawValue: isDescending ? String(sort.dropFirst()) : sort) else {
            throw .parameter("sort", "number, price, name or wished; with a minus before it, descending")
        }
        self.order = order
    }

    /// Returns the products of the requested collection, in the requested order.
    ///
    /// - Parameter wishedAt: The time of the wish for a product, to the millisecond.
    func apply(
        to products: [ProductResource],
        wishedAt: (String) -> Timestamp? = { _ in nil }
    ) -> [ProductResource] {
        let found = products.filter { collection == nil || $0.item?.collection == collection }
        // Products with equal keys are in ascending order of their identifiers, in both directions.
        return found.sorted { left, right in
            switch order {
            case .number where left.item != right.item: isBefore(left.item, right.item)
            case .price where left.price != right.price: isBefore(left.price, right.price)
            case .name where left.displayName != right.displayName: isBefore(left.displayName, right.displayName)
            case .wished where wishedAt(left.productId) != wishedAt(right.productId):
                isBefore(wishedAt(left.productId), wishedAt(right.productId))
            default: left.productId < right.productId
            }
        }
    }

    /// Orders two keys; a product without a key comes last.
    private func isBefore<Key: Comparable>(_ left: Key?, _ right: Key?) -> Bool {
        guard let left, let right else { return left != nil }
        return isDescending ? left > right : left < right
    }

    /// Returns true if the product's identifier, or one of its texts in any language, contains the requested text.
    func matches(_ product: Product) -> Bool {
        guard let search else { return true }
        let texts = product.localizations.flatMap { [$0.displayName, $0.description] }
        return ([product.productIdentifier] + texts).contains {
            $0.range(of: search, options: [.caseInsensitive, .diacriticInsensitive]) != nil
        }
    }
}

/// The route that lists what an app offers.
struct OfferingRoutes: OperationGroup {
    static let tag = OperationTag(
        "Offerings", "The offerings of the catalog.",
        [.listOfferings])
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listOfferings) { request, context in
            let view = try catalogs.view(of: request, context)
            return view.answers.answer(to: request) { JSONAnswer.encode(Self.json(of: view.catalog)) }
                .response(to: request, headers: [.cacheControl: "no-cache"])
        }
    }

    /// The offerings of an app. They are written member by member, to keep the digits of numbers in metadata.
    private static func json(of catalog: Catalog) -> JSONValue {
        let offerings = catalog.offerings.map { offering in
            JSONValue.object([
                "identifier": .string(offering.identifier), "description": .string(offering.description),
                "metadata": offering.metadata.members.isEmpty ? nil : .object(offering.metadata),
                "packages": .array(
                    catalog.packagesForSale(of: offering).map { package in
                        .object([
                            "identifier": .string(package.identifier), "productId": .string(package.productIdentifier),
                            "googlePlay": package.googlePlay.map { play in
                                .object([
                                    "productId": .string(package.playProductIdentifier),
                                    "basePlanId": play.basePlanIdentifier.map { .string($0) },
                                ])
                            },
                        ])
                    }),
            ])
        }
        return .object([
            "currentOffering": (catalog.currentOffering?.identifier).map { .string($0) },
            "offerings": .array(offerings),
        ])
    }
}

extension APIOperation {
    static let listProducts = APIOperation(
        .get, "/v1/products", for: .backEndOrApp(.read), isPerApp: true,
        "listProducts", "Lists the products for sale",
        parameters: productSelection(sortedBy: "number") + [.ifNoneMatch],
        answers: [.page("A page of products.", of: ProductResource.self)],
        never: [.notFound])

    static func productSelection(sortedBy order: String) -> [Parameter] {
        [
            .query("collection", "Only the products of a collection.", example: "sprout"),
            .query(
                "search",
                "Only products with this text in the identifier, or in the name or the description in any language.",
                .text(length: 1...100)),
            .query(
                "sort", "The order. A minus sign before it reverses it.",
                .productOrder.with(["default": .string(order)])),
            .acceptLanguage, .app,
        ]
    }

    static let readProduct = APIOperation(
        .get, "/v1/products/{product}", for: .backEndOrApp(.read), isPerApp: true,
        "readProduct", "Returns a product",
        parameters: [.acceptLanguage, .ifNoneMatch, .app],
        answers: [.json("The product.", ProductResource.self)])

    static let listOfferings = APIOperation(
        .get, "/v1/offerings", for: .backEndOrApp(.read), isPerApp: true,
        "listOfferings", "Lists the offerings of an app",
        parameters: [.ifNoneMatch, .app],
        answers: [
            .json(
                "The offerings, in the order of the catalog.",
                .object("The offerings of an app.", named: "OfferingList").fields([
                    "currentOffering": .text(
                        "The identifier of the offering that the app shows unless it asks for another."
                    ).optional,
                    "offerings": .array(of: .offering),
                ]).closed)
        ])

    static let listPictures = APIOperation(
        .get, "/v1/pictures", for: .anybody, usesReserve: true,
        "listPictures", "Lists the addresses of the items' pictures",
        parameters: [.ifNoneMatch, .app],
        answers: [.list("The items with a picture, in order.", of: PictureResource.self)])

    static let readPicture = APIOperation(
        .get, "/v1/pictures/{collection}/{number}", for: .anybody, usesReserve: true,
        "readPicture", "Returns an item's picture",
        parameters: [
            .path("collection", "The item's collection.", example: "sprout"),
            .path("number", "The item's number.", .integer(in: 0 ... .max), example: .integer(1)),
            .query("v", "The version in the picture's address."), .ifNoneMatch, .app,
        ],
        answers: [
            .content(
                "The picture.", ["image/svg+xml": .text(), "image/png": .binary, "image/jpeg": .binary]
            ).header("Cache-Control", "The caching rule. An address with a version may be cached forever.")
        ])
}

extension Schema {
    /// The orders of products, with names for generators of clients, which make none from a minus sign.
    fileprivate static let productOrder: Schema = {
        let orders = ProductQuery.Order.allCases.map(\.rawValue)
        let names = orders.flatMap { [$0, $0 + "Descending"] }
        return Schema.one(of: orders.flatMap { [$0, "-" + $0] })
            .with(["x-enum-varnames": .array(names.map { .string($0) })]).named("ProductOrder")
    }()

    static let offering = Schema.object("A selection of products that an app shows together.", named: "Offering")
        .fields([
            "identifier": .text().example("standard"),
            "description": .text(),
            "metadata": .anyObject.described("Values for the app.").optional,
            "packages": .array(of: .offeringPackage, "The packages whose products are for sale."),
        ]).closed

    static let offeringPackage = Schema.object(
        "A product in an offering, under a name that the app knows.", named: "OfferingPackage"
    ).fields([
        "identifier": .text().example("$rc_monthly"),
        "productId": .text("The product's identifier."),
        "googlePlay": .object("The product at Google Play, if the catalog names another one or a base plan.").fields([
            "productId": .text("The product's identifier at Google Play."),
            "basePlanId": .text("The base plan of the subscription.").optional,
        ]).closed.optional,
    ]).closed
}
