import Proofs
import Vocabulary

/// The benefit of each product, and the free items: Till's own file beside the `.storekit` file.
struct ItemMap {
    /// The maximum amount that one consumable adds to a balance.
    private static let maximumAmount = 1_000_000_000
    /// The maximum length of a collection's name, in bytes of UTF-8.
    private static let maximumCollectionLength = 64

    /// The key of the period for which Google Play rents a product.
    static let rentalPeriod = "rentalPeriod"

    let bundleIdentifier: String
    /// The benefits, by product identifier.
    let benefits: [String: Benefit]
    /// The entries as the file has them, by product identifier.
    let entries: [String: JSONObject]
    /// The free items, in order.
    let ownedByEverybody: [Item]

    /// - Parameter products: The products of the catalog. The map must have all of them and no other.
    init(_ root: CatalogReader, products: [Product]) throws(CatalogError) {
        bundleIdentifier = try root.required("bundleId").string()
        // Only permanent items. Several products may grant an item that expires, such as a month and a year of it.
        var claimed: Set<Item> = []
        var free: [Item] = []
        for entry in try root.required("ownedByEverybody").elements() {
            let (item, number) = try Self.item(entry)
            guard claimed.insert(item).inserted else { throw number.failure("\(item) is given twice") }
            free.append(item)
        }
        var benefits: [String: Benefit] = [:]
        var entries: [String: JSONObject] = [:]
        let list = try root.required("items")
        for entry in try list.elements() {
            let identifier = try entry.required("productID")
            let productIdentifier = try identifier.string()
            guard let product = products.first(where: { $0.productIdentifier == productIdentifier }) else {
                throw identifier.failure("the catalog has no product \(productIdentifier)")
            }
            guard benefits[productIdentifier] == nil else {
                throw identifier.failure("\(productIdentifier) is there twice")
            }
            benefits[productIdentifier] = try Self.benefit(entry, of: product, claimed: &claimed)
            if case .object(let object) = entry.value { entries[productIdentifier] = object }
        }
        if let missing = products.first(where: { benefits[$0.productIdentifier] == nil }) {
            throw list.failure("no item is given for the product \(missing.productIdentifier)")
        }
        self.benefits = benefits
        self.entries = entries
        ownedByEverybody = free.sorted()
    }

    /// - Parameter claimed: The items that are already granted permanently. The function adds the product's item.
    static func benefit(
        _ entry: CatalogReader,
        of product: Product,
        claimed: inout Set<Item>
    ) throws(CatalogError) -> Benefit {
        if product.type == .consumable {
            let amount = try entry.required("amount")
            let count = try amount.count()
            guard (1...maximumAmount).contains(count) else {
                throw amount.failure("it has to be from 1 to \(maximumAmount)")
            }
            return .credit(Credit(balance: try name(try entry.required("balance")), amount: count))
        }
        let (item, number) = try item(entry)
        switch product.type {
        case .nonRenewingSubscription:
            return .itemFor(item, try entry.required("duration").period())
        case .autoRenewableSubscription: return .itemWhilePaid(item)
        case .nonConsumable, .consumable:
            if let period = try entry.optional(rentalPeriod), RentalPeriod(try period.string()) == nil {
                throw period.failure("it is not the period of a rental; write P2D or PT48H")
            }
            guard claimed.insert(item).inserted else { throw number.failure("\(item) is given twice") }
            return .item(item)
        }
    }

    static func item(_ entry: CatalogReader) throws(CatalogError) -> (item: Item, number: CatalogReader) {
        let (collection, number) = (try entry.required("collection"), try entry.required("number"))
        let name = try collection.string()
        // Databases use the name as a part of their keys.
        guard name.utf8.count <= maximumCollectionLength, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw collection.failure(
                "a collection's name has up to \(maximumCollectionLength) bytes and no control characters")
        }
        return (Item(collection: name, number: try number.count()), number)
    }

    /// A name that needs no escaping in a URL.
    private static func name(_ entry: CatalogReader) throws(CatalogError) -> String {
        let name = try entry.string()
        guard name.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else {
            throw entry.failure("a balance's name has up to 64 letters, digits, - and _")
        }
        return name
    }
}
