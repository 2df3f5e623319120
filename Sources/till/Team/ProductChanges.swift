import AppStore
import ArgumentParser
import Catalog
import Features
import Foundation
import HTTPSupport
import Ledger
import Vocabulary

/// The options of a command about the catalog of an app, as it is administered.
struct CatalogOptions: ParsableArguments {
    @Option(
        name: .customLong("bundle-id"),
        help: .bundleIdentifier("for a service that sells several; without --server, --catalog names its folder"))
    var app: String?

    @OptionGroup var call: CallOptions

    /// The path of a resource of the catalog, such as `changes`.
    func path(_ resource: String...) -> String {
        ServiceClient.path(
            (["/v1/catalog"] + resource.map(HTTPServiceConnection.segment)).joined(separator: "/"), [("app", app)])
    }
}

struct ProductOptions: ParsableArguments {
    @Argument(help: "The identifier of the product.")
    var product: String

    @OptionGroup var catalog: CatalogOptions

    /// The path of the product, or of a resource below it, such as `withdrawal`.
    func path(_ resource: String? = nil) -> String {
        resource.map { catalog.path("products", product, $0) } ?? catalog.path("products", product)
    }
}

/// A command about the catalog of an app. A running service needs the setting catalog-administration, and a key with the scope
/// `catalog`.
protocol CatalogCaller: ServiceCaller {
    var catalog: CatalogOptions { get }
}

extension CatalogCaller {
    var call: CallOptions { catalog.call }

    var features: [LedgerFeature] { [.catalogAdministration] }
}

protocol ProductCaller: CatalogCaller {
    var product: ProductOptions { get }
}

extension ProductCaller {
    var catalog: CatalogOptions { product.catalog }
}

/// A product as the administration of the catalog shows it.
private struct AdministeredProduct: Decodable, Sendable {
    let productId: String
    let definition: JSONContent
}

struct ProductsShow: ProductCaller {
    static let configuration = CommandConfiguration(
        "show", "Print the definition of a product, to change and send back.",
        examples: "till products show com.memolease.sesac1.sprout1 > sprout1.json")

    @OptionGroup var product: ProductOptions

    func perform() async throws {
        let shown: Answered<AdministeredProduct> = try await get(product.path())
        try terminal.document(shown.definition)
        try terminal.json(shown)
    }
}

struct ProductsChange: ProductCaller {
    static let configuration = CommandConfiguration(
        "change", "Create a product, or change it, by a file with its definition.",
        """
        The definition is an entry of a .storekit file and one of Items.json in one object, as `till products show` prints it. \
        The files of the catalog stay as they are. App Store Connect must have the same product.
        """,
        examples: "till products change com.memolease.sesac1.sprout9 sprout9.json")

    @OptionGroup var product: ProductOptions

    @Argument(help: .value("file", "The file with the definition as JSON; - for standard input."))
    var file: String

    func perform() async throws {
        let bytes = try FileHandle.bytes(of: file, upTo: CatalogService.maximumDefinition + 1)
        guard let definition = JSONContent(json: String(decoding: bytes, as: UTF8.self)) else {
            throw CommandError(
                "definitionInvalid",
                "\"\(file)\" is no JSON of at most \(CatalogService.maximumDefinition) bytes. `till products show` prints one."
            )
        }
        let changed: Answered<AdministeredProduct> = try await put(product.path(), definition)
        try terminal.result("The catalog has \(changed.productId) with this definition.", changed)
    }
}

struct ProductsPicture: ProductCaller {
    static let configuration = CommandConfiguration(
        "picture", "Set the picture of the item that a product grants.",
        "An SVG, a PNG or a JPEG, up to \(Picture.maximumSize / 1024) KB.",
        examples: "till products picture com.memolease.sesac1.sprout1 moon.svg")

    @OptionGroup var product: ProductOptions

    @Argument(help: .value("file", "The file with the picture."))
    var file: String

    func perform() async throws {
        let path = product.path("picture")
        let bytes = try FileHandle.bytes(of: file, upTo: Picture.maximumSize + 1)
        let changed: Answered<AdministeredProduct> = try await withClient {
            try await $0.put(path, field: "picture", bytes: bytes)
        }
        try terminal.result("The item of \(changed.productId) has this picture.", changed)
    }
}

struct ProductsWithdraw: ProductCaller {
    static let configuration = CommandConfiguration(
        "withdraw", "Withdraw a product from sale. Customers keep what they bought, and subscriptions renew.",
        examples: "till products withdraw com.memolease.sesac1.sprout1")

    @OptionGroup var product: ProductOptions

    func perform() async throws {
        let changed: Answered<AdministeredProduct> = try await put(product.path("withdrawal"))
        try terminal.result("\(changed.productId) is withdrawn from sale.", changed)
    }
}

struct ProductsReturn: ProductCaller {
    static let configuration = CommandConfiguration(
        "return", "Return a withdrawn product to sale.",
        examples: "till products return com.memolease.sesac1.sprout1")

    @OptionGroup var product: ProductOptions

    func perform() async throws {
        let changed: Answered<AdministeredProduct> = try await delete(product.path("withdrawal"))
        try terminal.result("\(changed.productId) is for sale.", changed)
    }
}

struct ProductsRestore: ProductCaller {
    static let configuration = CommandConfiguration(
        "restore", "Restore the definition of the files, or remove a product that the files do not have.",
        "A product that a customer has redeemed cannot be removed.",
        examples: "till products restore com.memolease.sesac1.sprout1")

    @OptionGroup var product: ProductOptions

    func perform() async throws {
        let _: NoContent = try await delete(product.path())
        try terminal.result("\(product.product) is as the files define it.", ["restored": product.product])
    }
}

struct ProductsHistory: CatalogCaller {
    static let configuration = CommandConfiguration(
        "history", "List the changes of a product, or of the catalog with rights and offerings, newest first.",
        "--json also prints each definition.",
        examples: """
            till products history
            till products history com.memolease.sesac1.sprout1
            """)

    @Argument(help: "The identifier of the product (default: all).")
    var product: String?

    @OptionGroup var list: ListLimit

    @OptionGroup var catalog: CatalogOptions

    private struct Change: Decodable, Listed, Sendable {
        static let listName = "changes"

        let number: Int64
        let happenedAt: String
        let changedBy: String
        let changedByName: String?
        let kind: String
        let productId: String?
        let right: String?
        let offering: String?
    }

    func perform() async throws {
        let changes: [Answered<Change>] = try await elements(
            of: "/v1/catalog/changes", [("product", product), ("app", catalog.app)], upTo: list)
        try terminal.list(
            ["CHANGE", "TIME", "KIND", "OF", "BY"], changes,
            orElse: "No changes. The products are as the files define them."
        ) { change in
            let subject =
                change.productId ?? change.right.map { "right \($0)" } ?? change.offering.map { "offering \($0)" }
            return [
                String(change.number), change.happenedAt, change.kind, subject ?? "current offering",
                change.changedByName ?? change.changedBy,
            ]
        }
    }
}

struct ProductsUndo: CatalogCaller {
    static let configuration = CommandConfiguration(
        "undo", "Return a product, a right or an offering to its state before a change, also before later ones.",
        examples: "till products undo 1")

    @Argument(help: "The number of the change, as `till products history` lists it.")
    var change: Int64

    @OptionGroup var catalog: CatalogOptions

    func perform() async throws {
        let _: NoContent = try await post(catalog.path("changes", String(change), "undo"))
        try terminal.result("Undone: change \(change)", ["undone": change])
    }
}
