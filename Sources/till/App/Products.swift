import AppStore
import ArgumentParser
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import Vocabulary

struct ProductsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "products",
        abstract: "List, compare and change the products of the catalog.",
        subcommands: [
            Products.self, ProductsCompare.self, ProductsShow.self, ProductsChange.self, ProductsPicture.self,
            ProductsWithdraw.self, ProductsReturn.self, ProductsRestore.self, ProductsHistory.self, ProductsUndo.self,
        ], defaultSubcommand: Products.self)
}

struct Products: Command {
    static let configuration = CommandConfiguration(
        "list", "List the products of the catalog, or of a running service.",
        examples: """
            till products
            till products --collection sprout --locale ko
            till products --server http://127.0.0.1:8080
            """)

    @Option(help: "Only the items of this collection: sprout or background.")
    var collection: String?

    @Option(help: "The language, such as ko (default: en, or else the catalog's first).")
    var locale: String?

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let rows: [ProductResource]
        if let client = try service.client() {
            rows = try await self.rows(of: client)
        } else {
            rows = try self.rows()
        }
        try terminal.list(["ITEM", "NAME", "PRICE", "IDENTIFIER"], rows) {
            [$0.item?.description, $0.displayName, $0.priceWithPeriod, $0.productId]
        }
    }

    /// The products that a running service sells, from all pages.
    private func rows(of client: ServiceClient) async throws -> [ProductResource] {
        try await ServiceClient.elements { size, cursor in
            let path = ServiceClient.path(
                "/v1/products", [("pageSize", String(size)), ("collection", collection), ("cursor", cursor)])
            return try await client.get(path, language: locale ?? "en")
        }
    }

    private func rows() throws -> [ProductResource] {
        let catalog = try common.dataDirectory.catalog()
        if let collection, !catalog.collections.contains(collection) {
            throw ValidationError(
                "There is no collection \"\(collection)\": choose one of \(catalog.collections.joined(separator: ", "))."
            )
        }
        return try [ProductResource](catalog.products, in: catalog, locale: locale)
            .filter { collection == nil || $0.item?.collection == collection }
    }
}

extension CommandError {
    /// The number of products that a message lists.
    private static let maximumListed = 20

    /// The store of a data directory does not sell a product.
    ///
    /// - Parameter products: The identifiers of the products that it sells.
    static func productUnknown(_ identifier: String, among products: [String]) -> CommandError {
        let listed = products.prefix(maximumListed).joined(separator: ", ")
        let others = products.count > maximumListed ? " and \(products.count - maximumListed) more" : ""
        return CommandError(
            "productNotFound",
            "The store sells no product \"\(identifier.prefix(100))\"."
                + Suggestion.sentence(for: identifier, among: products)
                + (products.isEmpty ? "" : " It sells \(listed)\(others)."))
    }
}

extension ProductResource {
    /// `USD 4.99 every month`.
    var priceWithPeriod: String {
        guard let period = subscription.flatMap({ SubscriptionPeriod($0.period) }) else { return displayPrice }
        return "\(displayPrice) every \(period.words)"
    }
}

extension [ProductResource] {
    /// - Parameters:
    ///   - catalog: The benefits of the products; nil for a StoreKit configuration alone.
    ///   - locale: The language of the texts; nil for English, or else the first language.
    /// - Throws: `ValidationError` for a language without texts.
    init(_ products: [Product], in catalog: Catalog?, locale: String?) throws {
        let languages = products.languages
        if let locale, !languages.contains(locale) {
            throw ValidationError(
                "There are no texts in \"\(locale)\": choose one of \(languages.sorted().joined(separator: ", ")).")
        }
        let pictures = catalog.map { PictureAddresses(catalog: $0) }
        self = products.map { product in
            let benefit = catalog?.benefit(of: product.productIdentifier)
            return ProductResource(
                product, benefit: benefit, localization: product.localization(language: locale ?? "en"),
                picture: benefit?.item.flatMap { pictures?[$0] })
        }
    }
}

struct ProductsCompare: LedgerUser {
    static let configuration = CommandConfiguration(
        "compare", "Compare the catalog with what the stores have sold.",
        """
        The command lists products that were sold and that the catalog does not have, prices that differ from the catalog's, \
        prices that have changed, and products that nobody buys. It reads the latest 200 redeemed transactions of each \
        product, the latest 500 purchases that nobody has redeemed, and the latest 500 purchases that were refused because the \
        catalog does not have the product. Prices of offers do not count.
        """,
        examples: """
            till products compare --environment sandbox
            till products compare --days 30 --all
            till products compare --server https://shop.example.com
            """)

    @Option(help: .environment)
    var environment: FigureQuery.Environment = .production

    @Option(
        help: .value(
            "n", "The days to look back (in which each product should have been sold: 1 to 3650; default: 90)."))
    var days: Int64?

    @Flag(help: "Also list products without a difference.")
    var all = false

    @Option(
        name: .customLong("bundle-id"),
        help: .bundleIdentifier("for a service that sells several; without --server, --catalog names its folder"))
    var app: String?

    @OptionGroup var service: ServerOptions

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try require(
            ProductComparison.days.contains(days ?? ProductComparison.standardDays),
            "--days must be a number from 1 to 3650.")
        try require(app == nil || service.server != nil, "--bundle-id needs --server.")
    }

    func perform() async throws {
        let compared = try await products().filter { all || !$0.findings.isEmpty }
        terminal.table(
            ["PRODUCT", "FINDING", "CATALOG", "SOLD FOR", "BEFORE", "LAST SOLD"], compared.flatMap(\.rows),
            orElse: "The catalog agrees with the sales.")
        try terminal.json(List(compared))
    }

    private func products() async throws -> [Answered<ComparedProductRow>] {
        if let client = try service.client() {
            return try await ServiceClient.elements { size, cursor in
                try await client.get(
                    ServiceClient.path(
                        "/v1/catalog/comparison",
                        [
                            ("pageSize", String(size)), ("environment", environment.rawValue),
                            ("days", days.map { String($0) }), ("app", app), ("cursor", cursor),
                        ]))
            }
        }
        let ledger = try existingLedger()
        let clock = try common.dataDirectory.clock
        let apps = try await administration(of: ledger, clock: clock).apps
        let comparison = ProductComparison(
            of: apps.first.catalog, soldBy: environment.origins(), in: days ?? ProductComparison.standardDays,
            until: clock.now())
        let compared = try await ledger.read(.longSnapshot) {
            try $0.comparedProducts(by: comparison, after: nil, limit: .max)
        }
        return try JSONDecoder().decode(List<Answered<ComparedProductRow>>.self, from: Data(try List(compared).json()))
            .elements
    }
}

/// A compared product as rows for a terminal: one for each finding, or one without a finding.
struct ComparedProductRow: Decodable, Listed, Sendable {
    static let listName = "products"

    struct SoldFor: Decodable {
        let storefront: String?
        let price: Int64
        let currency: String

        /// `USD 4.99 (USA)`.
        var text: String {
            Price(milliunits: price, currency: currency).formatted + (storefront.map { " (\($0))" } ?? "")
        }
    }

    struct StorefrontPrice: Decodable {
        let storefront: String
        let price: Int64
        let currency: String
        let former: SoldFor?
    }

    let productId: String
    let catalogPrice: SoldFor?
    let prices: [StorefrontPrice]
    let lastSoldAt: String?
    let findings: [ComparedProduct.Finding]

    var rows: [[String?]] {
        findings.isEmpty ? [row(nil, priceInCatalogStorefront)] : findings.flatMap(rows)
    }

    private func rows(of finding: ComparedProduct.Finding) -> [[String?]] {
        switch finding {
        case .unknown: [row("not in the catalog", prices.first)]
        case .priceDiffers: [row("price differs", priceInCatalogStorefront)]
        case .priceChanged: prices.filter { $0.former != nil }.map { row("price changed", $0) }
        case .notSold: [row("not sold", priceInCatalogStorefront)]
        }
    }

    private var priceInCatalogStorefront: StorefrontPrice? {
        prices.first { $0.storefront == catalogPrice?.storefront }
    }

    private func row(_ finding: String?, _ sold: StorefrontPrice?) -> [String?] {
        [
            productId, finding, catalogPrice?.text,
            sold.map { SoldFor(storefront: $0.storefront, price: $0.price, currency: $0.currency).text },
            sold?.former?.text, lastSoldAt,
        ]
    }
}

extension ComparedProduct.Finding: Decodable {}
