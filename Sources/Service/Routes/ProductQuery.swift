import Foundation
import HTTPSupport
import Hummingbird
import Proofs

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
