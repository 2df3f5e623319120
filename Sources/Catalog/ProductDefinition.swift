import Proofs

/// An administered product with its benefit: an entry of a `.storekit` file and one of `Items.json`, merged into one object.
package struct ProductDefinition: Sendable {
    /// The files have this key once for a whole group.
    static let groupIdentifier = "subscriptionGroupID"
    static let groupName = "subscriptionGroupName"
    private static let identifier = "productID"

    /// The maximum length of a text with characters beyond ASCII, in bytes of UTF-8.
    private static let maximumTextLength = 4096
    /// The keys of an entry of a `.storekit` file (Xcode 12 to 26) and of one of `Items.json`.
    private static let keys = [
        "adHocOffers", "amount", "balance", "billingPlans", "codeOffers", "collection", "displayPrice", "duration",
        "familyShareable", "groupNumber", "internalID", "introductoryOffer", "introductoryOffers", "localizations",
        "multiSeat", "number", "productID", "recurringSubscriptionPeriod", "referenceName", "rentalPeriod",
        "subscriptionGroupID", "subscriptionGroupName", "type", "winbackOffers",
    ]

    /// The definition, with the product's identifier. Keys of the files that Till does not know are kept.
    package let object: JSONObject
    package let product: Product
    /// The entry that the benefit is read from.
    var entry: CatalogReader { CatalogReader(file: product.productIdentifier, value: .object(object)) }

    /// - Parameter currency: The storefront's currency.
    /// - Throws: `CatalogError` for the first key that is missing, has another type or is out of range. The error names the
    ///   product's identifier as its file.
    package init(_ object: JSONObject, of productIdentifier: String, currency: String) throws(CatalogError) {
        let given = CatalogReader(file: productIdentifier, value: .object(object))
        guard productIdentifier.wholeMatch(of: /[A-Za-z0-9._-]{1,255}/) != nil else {
            throw CatalogError(
                file: productIdentifier, key: Self.identifier,
                reason: "a product's identifier has up to 255 letters, digits, ., - and _")
        }
        if let identifier = try given.optional(Self.identifier), try identifier.string() != productIdentifier {
            throw identifier.failure("it has to be \(productIdentifier), or left out")
        }
        var full = object
        _ = full.add(Self.identifier, .string(productIdentifier))
        self.object = full
        let entry = CatalogReader(file: productIdentifier, value: .object(full), currency: currency)
        let type = try entry.productType(among: ProductType.allCases)
        product =
            if type == .autoRenewableSubscription {
                try entry.subscription(
                    groupIdentifier: try entry.required(Self.groupIdentifier).string(),
                    groupName: try entry.optional(Self.groupName)?.text() ?? "")
            } else {
                try entry.product(type: type)
            }
    }

    /// Checks a new definition: its keys, and the length of its texts.
    ///
    /// - Parameter before: The replaced definition, whose keys are allowed; nil for a new product.
    /// - Throws: `CatalogError` for an unknown key, with the nearest known one, or a text that is too long.
    package static func check(
        _ object: JSONObject,
        of productIdentifier: String,
        replacing before: JSONObject?
    ) throws(CatalogError) {
        try CatalogReader(file: productIdentifier, value: .object(object)).check(keys: keys, and: before?.keys ?? [])
        guard isShort(.object(object)) else {
            throw CatalogError(
                file: productIdentifier, reason: "a text is longer than \(maximumTextLength) bytes")
        }
    }

    private static func isShort(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let object):
            object.members.allSatisfy { $0.key.utf8.count <= maximumTextLength && isShort($0.value) }
        case .array(let elements): elements.allSatisfy(isShort)
        // The size of the whole definition is limited, too. ASCII is compared in linear time.
        case .string(let text): text.utf8.count <= maximumTextLength || text.utf8.allSatisfy { $0 < 0x80 }
        case .number, .bool, .null: true
        }
    }

    /// True if two definitions have the same content, in any order of keys.
    package func isSame(as other: JSONObject?) -> Bool {
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

    static func merged(_ entry: JSONObject, _ items: JSONObject?) -> JSONObject {
        var object = entry
        for member in items?.members ?? [] { _ = object.add(member.key, member.value) }
        return object
    }
}
