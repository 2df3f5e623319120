import AppStoreClient
import ArgumentParser
import Catalog
import Commerce
import Device
import Foundation
import HTTPSupport
import Service
import StoreHTTP
import Wire

/// `till products`
struct Products: Command {
    static let configuration = CommandConfiguration(
        abstract: "List what the store sells.",
        discussion: """
            Examples:
              till products
              till products --collection sprout --locale ko
              till products --server http://127.0.0.1:8080
              till products --products Configuration.storekit
            """)

    @Option(help: "Only the items of this collection: sprout or background.")
    var collection: String?

    @Option(help: "The language of the texts, such as ko (default: en, or else the catalog's first).")
    var locale: String?

    @Option(
        name: .customLong("products"),
        help: ArgumentHelp("A StoreKit configuration of Xcode's to list instead of the catalog.", valueName: "file"))
    var configurationFile: String?

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if configurationFile != nil, service.server != nil || collection != nil {
            throw ValidationError("--products lists a file alone: leave out --server and --collection.")
        }
    }

    func perform() async throws {
        let rows: [ProductResource]
        if let client = try service.client() {
            rows = try await self.rows(of: client)
        } else if let configurationFile {
            rows = try self.rows(of: try StoreKitConfiguration(file: configurationFile).products, in: nil)
        } else {
            rows = try self.rows()
        }
        var table = TextTable(header: [configurationFile == nil ? "ITEM" : "TYPE", "NAME", "PRICE", "IDENTIFIER"])
        for row in rows {
            let first = configurationFile == nil ? row.item?.description ?? "-" : row.type
            table.add([first, row.displayName, row.priceForPeople, row.productId])
        }
        table.lines.forEach(console.line)
        try console.json(["products": rows])
    }

    /// What a running service sells, all pages of it.
    private func rows(of client: ServiceClient) async throws -> [ProductResource] {
        var query = URLComponents()
        query.path = "/v1/products"
        var rows: [ProductResource] = []
        var cursor: String?
        repeat {
            query.queryItems = [
                URLQueryItem(name: "pageSize", value: "100"),
                collection.map { URLQueryItem(name: "collection", value: $0) },
                cursor.map { URLQueryItem(name: "cursor", value: $0) },
            ].compactMap(\.self)
            guard let path = query.string else { break }
            let page: ProductList = try await client.get(path, language: locale ?? "en")
            rows += page.products
            cursor = page.nextCursor
        } while cursor != nil
        return rows
    }

    private func rows() throws -> [ProductResource] {
        let catalog = try Catalog(folder: common.dataDirectory.catalogFolder)
        if let collection, !catalog.collections.contains(collection) {
            throw ValidationError(
                "There is no collection \"\(collection)\": choose one of \(catalog.collections.joined(separator: ", "))."
            )
        }
        return try rows(of: catalog.products, in: catalog)
            .filter { collection == nil || $0.item?.collection == collection }
    }

    /// - Parameter catalog: nil for a file alone, which says nothing of items.
    private func rows(of products: [Product], in catalog: Catalog?) throws -> [ProductResource] {
        let languages = products.languages
        if let locale, !languages.contains(locale) {
            throw ValidationError(
                "There are no texts in \"\(locale)\": choose one of \(languages.sorted().joined(separator: ", ")).")
        }
        let pictures = catalog.map { PictureAddresses(catalog: $0) }
        return products.map { product in
            let benefit = catalog?.benefit(of: product.productIdentifier)
            return ProductResource(
                product, benefit: benefit, localization: product.localization(language: locale ?? "en"),
                picture: benefit?.item.flatMap { pictures?[$0] })
        }
    }
}

extension ProductResource {
    /// `USD 4.99 every month`.
    fileprivate var priceForPeople: String {
        guard let period = subscription.flatMap({ SubscriptionPeriod($0.period) }) else { return displayPrice }
        return "\(displayPrice) every \(period.words)"
    }
}
