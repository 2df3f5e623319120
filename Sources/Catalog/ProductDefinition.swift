import Commerce
import StrictJSON

/// A product and what it is good for as somebody defines it: an entry of a `.storekit` file and one of `Items.json` in one
/// object, read as those are.
public struct ProductDefinition: Sendable {
    /// In the files these stand once for a whole group.
    static let groupIdentifier = "subscriptionGroupID"
    static let groupName = "subscriptionGroupName"
    private static let identifier = "productID"

    /// With the product's identifier; keys that are not known stay as they are.
    public let object: JSONObject
    public let product: Product
    /// What the benefit is read from.
    var entry: CatalogReader { CatalogReader(file: product.productIdentifier, value: .object(object)) }

    /// - Parameter currency: The storefront's.
    /// - Throws: `CatalogError` for the first thing that is missing, of another type or out of range, under the product's
    ///   identifier as its file.
    public init(
        _ object: JSONObject,
        of productIdentifier: String,
        currency: String
    ) throws(CatalogError) {
        let given = CatalogReader(file: productIdentifier, value: .object(object))
        guard productIdentifier.wholeMatch(of: /[A-Za-z0-9._-]{1,255}/) != nil else {
            throw given.failure("a product's identifier has up to 255 letters, digits, ., - and _")
        }
        if let identifier = try given.optional(Self.identifier), try identifier.string() != productIdentifier {
            throw identifier.failure("it has to be \(productIdentifier), or left out")
        }
        var full = object
        _ = full.add(Self.identifier, .string(productIdentifier))
        self.object = full
        let entry = CatalogReader(file: productIdentifier, value: .object(full))
        let reader = ProductReader(entry: entry, currency: currency)
        let type = try reader.type(among: ProductType.allCases)
        product =
            if type == .autoRenewableSubscription {
                try SubscriptionReader(currency: currency).product(
                    entry, groupIdentifier: try entry.required(Self.groupIdentifier).string(),
                    groupName: try entry.optional(Self.groupName)?.text() ?? "")
            } else {
                try reader.product(type: type)
            }
    }

    /// Whether two say the same, in whatever order.
    public func isSame(as other: JSONObject?) -> Bool {
        other.map { Self.ordered(.object($0)) } == Self.ordered(.object(object))
    }

    private static func ordered(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            var sorted = JSONObject()
            for member in object.members.sorted(by: { $0.key < $1.key }) {
                _ = sorted.add(member.key, ordered(member.value))
            }
            return .object(sorted)
        case .array(let elements): return .array(elements.map(ordered))
        case .string, .number, .bool, .null: return value
        }
    }

    /// What two entries of files say together.
    static func merged(_ entry: JSONObject, _ items: JSONObject?) -> JSONObject {
        var object = entry
        for member in items?.members ?? [] { _ = object.add(member.key, member.value) }
        return object
    }
}
