import Commerce
import StrictJSON

/// Which item each product grants and which items everybody owns: Till's own file beside the `.storekit` file.
struct ItemMap {
    let bundleIdentifier: String
    /// By product identifier.
    let items: [String: Item]
    /// In order.
    let ownedByEverybody: [Item]

    /// - Parameter products: Those of the catalog, which the map has to know each of, and no other.
    init(_ root: CatalogReader, products: [Product]) throws(CatalogError) {
        bundleIdentifier = try root.required("bundleId").string()
        if let other = products.first(where: { $0.type != .nonConsumable }) {
            throw root.failure("\(other.productIdentifier) is not a non-consumable, and others are not sold yet")
        }
        var claimed: Set<Item> = []
        var free: [Item] = []
        for entry in try root.required("ownedByEverybody").elements() {
            free.append(try Self.item(entry, claimed: &claimed))
        }
        var items: [String: Item] = [:]
        let list = try root.required("items")
        for entry in try list.elements() {
            let identifier = try entry.required("productID")
            let productIdentifier = try identifier.string()
            guard products.contains(where: { $0.productIdentifier == productIdentifier }) else {
                throw identifier.failure("the catalog has no product \(productIdentifier)")
            }
            guard items[productIdentifier] == nil else {
                throw identifier.failure("\(productIdentifier) is there twice")
            }
            items[productIdentifier] = try Self.item(entry, claimed: &claimed)
        }
        if let missing = products.first(where: { items[$0.productIdentifier] == nil }) {
            throw list.failure("no item is given for the product \(missing.productIdentifier)")
        }
        self.items = items
        ownedByEverybody = free.sorted()
    }

    private static func item(_ entry: CatalogReader, claimed: inout Set<Item>) throws(CatalogError) -> Item {
        let collection = try entry.required("collection").string()
        let number = try entry.required("number")
        let item = Item(collection: collection, number: try number.count())
        guard claimed.insert(item).inserted else { throw number.failure("\(item) is given twice") }
        return item
    }
}
