import Entitlements
import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The route that compares the catalog with what the App Store has sold.
struct ComparisonRoutes: OperationGroup {
    static let tag = OperationTag(
        "Comparison", "The catalog compared with the sales of the stores.",
        [.compareProducts])
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.compareProducts) { request, context in
            let page = try RequestedPage(request)
            let app = try RequestedApps(apps: service.apps).app(of: request, context)
            let environment: FigureQuery.Environment = try request.query("environment") ?? .production
            let days = try request.queriedNumber(
                "days", in: ProductComparison.days, else: ProductComparison.standardDays)
            return try await page.answer(at: \.productIdentifier) { last, limit in
                try await service.comparedProducts(
                    of: app, soldBy: environment.origins(service.accepted.all), days: days, after: last, limit: limit)
            }
        }
    }
}

extension APIOperation {
    static let compareProducts = APIOperation(
        .get, "/v1/catalog/comparison", for: .backEnd(.figures), isPerApp: true,
        "compareProducts", "Compares the catalog with what the stores have sold",
        details: """
            The sales are the latest 200 redeemed transactions of each product, the latest 500 purchases that nobody has redeemed, \
            and the latest 500 purchases that were refused because the catalog does not have the product.
            """,
        parameters: [
            .query(
                "days", "The number of days in which a product should have been sold.",
                .integer(in: 1...3650).with(["default": .integer(ProductComparison.standardDays)])),
            .environment,
            .app,
        ],
        answers: [.page("The products in the order of their identifiers.", of: ComparedProduct.self)])
}

extension ComparedProduct: AnswerObject, Listed {
    package static let listName = "products"
    package static let answerFields = AnswerFields<Self>(
        "A product of the catalog, or one that a store has sold.", named: "ComparedProduct"
    ) {
        $0.field("productId", \.productIdentifier)
        $0.field("bundleId", "The bundle identifier of the app.", \.app)
        $0.field(
            "catalogPrice", "The catalog's price; absent for a product that the catalog does not have.", \.catalogPrice)
        $0.field("isWithdrawn", "True if the catalog no longer sells the product.", \.isWithdrawn)
        $0.field("lastSoldAt", "The purchase date of the latest sale; absent without one.", \.last?.soldAt)
        $0.field("lastTransactionId", "The transaction of the latest sale.", \.last?.transactionIdentifier)
        $0.field("prices", "The latest regular prices, in the order of the storefronts.", \.prices)
        $0.field(
            "findings",
            "`unknown`: the catalog does not have the product. `priceDiffers`: the latest price in the catalog's storefront is not the catalog's. `priceChanged`: the latest sales in a storefront have two prices. `notSold`: nobody has bought the product in the days. Empty without a difference.",
            \.findings)
    }
}

extension ComparedProduct.Finding: AnswerValue {}

extension ComparedProduct.CatalogPrice: AnswerObject {
    package static let answerFields = AnswerFields<Self>("The price of a product in the catalog.") {
        $0.field("storefront", "The country of the catalog's storefront, such as `KOR`.", \.storefront)
        $0.field("price", "In milliunits of the currency.", \.price.milliunits)
        $0.field("currency", "The ISO 4217 code.", \.price.currency)
    }
}

extension SoldPrice: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "The regular price of one unit of a product in a storefront, by its latest sales."
    ) {
        $0.field("storefront", "The country of the storefront, such as `KOR`.", \.storefront)
        $0.field("price", "In milliunits of the currency.", \.price.milliunits)
        $0.field("currency", "The ISO 4217 code.", \.price.currency)
        $0.field("soldAt", "The latest sale for this price.", \.soldAt)
        $0.field("former", "The price before; absent if the compared sales have one price.", \.former)
    }
}

extension SoldPrice.Former: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A price before the latest one.") {
        $0.field("price", "In milliunits of the currency.", \.price.milliunits)
        $0.field("currency", "The ISO 4217 code.", \.price.currency)
        $0.field("soldAt", "The latest sale for this price.", \.soldAt)
    }
}
