import Proofs
import Vocabulary

/// A right of users, such as `premium`, with the products and items that give it. RevenueCat's SDKs call it an entitlement.
package struct Right: Sendable {
    /// The maximum number of products of a right, and of its items.
    static let maximumSources = 1000
    private static let keys = ["description", "items", "name", "products"]

    package let name: String
    /// A description for the team; it may be empty.
    package let description: String
    /// The identifiers of the products whose owners have the right.
    package let products: [String]
    /// The items whose owners have the right, by a purchase, a grant or the catalog's rule.
    package let items: [Item]
    /// The definition, for errors about its products and items.
    private let entry: CatalogReader

    /// Reads an administered right.
    ///
    /// - Parameter object: The definition. It may leave out the name.
    /// - Throws: `CatalogError` for the first invalid key. The error names the right as its file.
    package init(_ object: JSONObject, named name: String) throws(CatalogError) {
        try self.init(try CatalogReader(file: name, value: .object(object)).naming("name", name))
    }

    init(_ entry: CatalogReader) throws(CatalogError) {
        try entry.check(keys: Self.keys)
        self.entry = entry
        name = try entry.required("name").name()
        description = try entry.optional("description")?.description() ?? ""
        let products = try entry.optional("products")?.elements(upTo: Self.maximumSources) ?? []
        let items = try entry.optional("items")?.elements(upTo: Self.maximumSources) ?? []
        guard !products.isEmpty || !items.isEmpty else {
            throw entry.failure("nothing gives the right; list at least one of its products or items")
        }
        self.products = try products.unique { product throws(CatalogError) in
            let identifier = try product.string()
            return (identifier, identifier)
        }
        self.items = try items.unique { item throws(CatalogError) in
            try item.check(keys: ["collection", "number"])
            let item = try ItemMap.item(item).item
            return (item, item.description)
        }
    }

    /// The definition in the form of the file, without the name.
    package var definition: JSONObject {
        let items = items.map {
            JSONValue.object(["collection": .string($0.collection), "number": .integer($0.number)])
        }
        return [
            "description": description.isEmpty ? nil : .string(description),
            "products": products.isEmpty ? nil : .array(products.map { .string($0) }),
            "items": items.isEmpty ? nil : .array(items),
        ]
    }

    func check(in catalog: Catalog) throws(CatalogError) {
        for product in try entry.optional("products")?.elements() ?? [] {
            if case .credit = try product.benefit(in: catalog) {
                throw product.failure("a consumable gives no right, because it is spent")
            }
        }
        guard !items.isEmpty else { return }
        let known = catalog.items
        for (item, reader) in zip(items, try entry.optional("items")?.elements() ?? []) where !known.contains(item) {
            throw reader.failure(
                "no product gives \(item), and it is not owned by everybody"
                    + CatalogReader.suggestion(for: item.description, among: known.map(\.description)))
        }
    }
}

/// The products and items that give a right, in all apps of a service or in one.
package struct RightSources: Sendable {
    package let name: String
    package private(set) var products: Set<ByteKey>
    package private(set) var items: Set<Item>

    package init(name: String, products: [String], items: [Item]) {
        self.name = name
        self.products = Set(products.map { ByteKey($0) })
        self.items = Set(items)
    }

    fileprivate mutating func add(_ right: Right) {
        products.formUnion(right.products.map { ByteKey($0) })
        items.formUnion(right.items)
    }
}

extension Catalogs {
    /// The rights, in the order of the apps. Rights of one name are one right.
    ///
    /// - Parameter app: A bundle identifier; nil for all apps.
    package func rights(in app: String? = nil) -> [RightSources] {
        var places: [ByteKey: Int] = [:]
        var rights: [RightSources] = []
        for catalog in all where app?.hasSameBytes(as: catalog.bundleIdentifier) ?? true {
            for right in catalog.rights {
                if let place = places[ByteKey(right.name)] {
                    rights[place].add(right)
                } else {
                    places[ByteKey(right.name)] = rights.count
                    rights.append(RightSources(name: right.name, products: right.products, items: right.items))
                }
            }
        }
        return rights
    }
}
