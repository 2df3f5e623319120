import AppStore
import ArgumentParser
import Catalog
import Features
import Foundation
import HTTPSupport
import Proofs
import Service

struct ProductsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "products",
        abstract: "List, compare and change the products of the catalog.",
        subcommands: [
            Products.self, ProductsCompare.self, ProductsShow.self, ProductsChange.self, ProductsPicture.self,
            ProductsWithdraw.self, ProductsReturn.self, ProductsRestore.self, ProductsHistory.self, ProductsUndo.self,
        ], defaultSubcommand: Products.self)
}

struct ProductsCompare: LedgerUser {
    static let configuration = CommandConfiguration(
        "compare", "Compare the catalog with what the App Store has sold.",
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

    @Option(help: "The environment of the purchases: production or sandbox.")
    var environment: FigureQuery.Environment = .production

    @Option(
        help: ArgumentHelp(
            "The days in which each product should have been sold: 1 to 3650 (default: 90).", valueName: "n"))
    var days: Int64?

    @Flag(help: "Also list products without a difference.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "The app, for a service that sells several. Without --server, --catalog names its folder.",
            valueName: "bundle-id"))
    var app: String?

    @OptionGroup var service: ServerOptions

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try require(
            ProductComparison.days.contains(days ?? ProductComparison.standardDays),
            "--days must be a number from 1 to 3650.")
        try require(app == nil || service.server != nil, "--app needs --server.")
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
        // The command neither creates a ledger nor converts one of another version.
        let ledger = try ledger.place().open(migrates: false)
        let clock = try common.dataDirectory.clock
        let files = try Catalog(folder: common.dataDirectory.catalogFolder)
        let apps = try await CatalogService(apps: Apps(App(files)), ledger: ledger, clock: clock).apps
        let comparison = ProductComparison(
            of: apps.first.catalog, soldBy: environment.origins, in: days ?? ProductComparison.standardDays,
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
