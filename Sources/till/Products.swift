import AppStore
import ArgumentParser
import Catalog
import Foundation
import HTTPSupport
import Proofs
import Service

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

    @Option(help: "The language of the texts, such as ko (default: en, or else the catalog's first).")
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
        terminal.table(
            ["ITEM", "NAME", "PRICE", "IDENTIFIER"],
            rows.map { [$0.item?.description, $0.displayName, $0.priceWithPeriod, $0.productId] })
        try terminal.json(List(rows))
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
        let catalog = try Catalog(folder: common.dataDirectory.catalogFolder)
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
