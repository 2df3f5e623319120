import Proofs
import Vocabulary

/// A draft of `Items.json` for the products of a `.storekit` file, to be edited.
///
/// A subscription group becomes a collection whose numbers are the levels. Other products are named after the last part of
/// their identifiers: `com.example.coins100` becomes 100 of the balance `coins`, or the item `coins 100`. The amount of a consumable
/// may also be in its name: "100 coins".
package struct CatalogDraft: Sendable {
    package struct Entry: Sendable {
        package let product: Product
        package let benefit: Benefit
        /// True for a consumable if no number was found in its name.
        package let isAmountAssumed: Bool
        /// True for a consumable if its names and its identifier have different numbers.
        package let isAmountAmbiguous: Bool
    }

    /// The duration of every non-renewing subscription, because the `.storekit` file has none.
    private static let duration = "P1M"
    /// The maximum length of the names of collections and balances, in bytes.
    private static let maximumNameLength = 64

    package let entries: [Entry]
    /// The content of `Items.json`.
    package let itemsText: String

    package init(_ configuration: StoreKitConfiguration, bundleIdentifier: String) throws(CatalogError) {
        let lines = Self.lines(configuration.products)
        let items = lines.isEmpty ? "[]" : "[\n" + lines.map { "    \($0.text)" }.joined(separator: ",\n") + "\n  ]"
        itemsText = """
            {
              "bundleId": \(JSONValue.string(bundleIdentifier).prettyText),
              "ownedByEverybody": [],
              "items": \(items)
            }

            """
        let map = try ItemMap(
            try CatalogReader(file: Catalog.itemsFile, json: [UInt8](itemsText.utf8)), products: configuration.products)
        entries = zip(configuration.products, lines).compactMap { product, line in
            map.benefits[product.productIdentifier].map {
                Entry(
                    product: product, benefit: $0, isAmountAssumed: line.amounts?.isEmpty ?? false,
                    isAmountAmbiguous: (line.amounts?.count ?? 0) > 1)
            }
        }
    }

    /// The entries of `Items.json`, each with the possible amounts of a consumable.
    private static func lines(_ products: [Product]) -> [(text: String, amounts: [Int]?)] {
        var groups: [String: String] = [:]
        for subscription in products.compactMap(\.subscription) where groups[subscription.groupIdentifier] == nil {
            let name = name(subscription.groupName, or: "subscription")
            let isTaken = groups.values.contains(name)
            groups[subscription.groupIdentifier] = isTaken ? "\(name)-\(groups.count + 1)" : name
        }
        var items: Set<Item> = []
        return products.map { product in
            let (stem, number) = parts(of: product.productIdentifier)
            let members: [(String, JSONValue)]
            var amounts: [Int]?
            if let subscription = product.subscription {
                members = [
                    ("collection", .string(groups[subscription.groupIdentifier] ?? stem)),
                    ("number", .integer(subscription.level)),
                ]
            } else if product.type == .consumable {
                let found = Self.amounts(of: product, identifierHas: number)
                members = [("balance", .string(stem)), ("amount", .integer(found.first ?? 1))]
                amounts = found
            } else {
                let collection = groups.values.contains(stem) ? "\(stem)-product" : stem
                var item = Item(collection: collection, number: number ?? 1)
                while !items.insert(item).inserted { item = Item(collection: collection, number: item.number + 1) }
                members =
                    [("collection", .string(collection)), ("number", .integer(item.number))]
                    + (product.type == .nonRenewingSubscription ? [("duration", .string(duration))] : [])
            }
            let all = [("productID", JSONValue.string(product.productIdentifier))] + members
            return ("{ " + all.map { "\"\($0)\": \($1.prettyText)" }.joined(separator: ", ") + " }", amounts)
        }
    }

    /// The last part of an identifier without its number, and the number: `coins` and 100 for `com.example.coins_100`.
    private static func parts(of identifier: String) -> (stem: String, number: Int?) {
        let parts = identifier.split(separator: ".")
        // A part that is only a number belongs to the part before it.
        let last = parts.last.map(String.init) ?? ""
        let isNumber = last.allSatisfy { $0.isASCII && $0.isNumber }
        let text = isNumber ? parts.suffix(2).joined(separator: "-") : last
        return (name(text.replacing(/[0-9]+/, with: "-"), or: "item"), number(in: text))
    }

    /// The amounts that a consumable may have. Its names, which customers read, come before its identifier.
    private static func amounts(of product: Product, identifierHas number: Int?) -> [Int] {
        let names = product.localizations.map(\.displayName) + [product.referenceName]
        var amounts: [Int] = []
        for amount in names.flatMap(numbers) + [number].compactMap(\.self)
        where amount > 0 && !amounts.contains(amount) { amounts.append(amount) }
        return amounts
    }

    /// The first number of at most nine digits in a text.
    private static func number(in text: String) -> Int? {
        text.firstMatch(of: /[0-9]+/).flatMap { $0.0.count <= 9 ? Int($0.0) : nil }
    }

    /// The numbers of at most nine digits in a name, with or without separators of thousands: `500`, `1,000`, `1.000`.
    private static func numbers(in name: String) -> [Int] {
        name.matches(of: /[0-9]{1,3}(?:[,.' \u{A0}\u{202F}][0-9]{3})+(?![0-9])|[0-9]+/).compactMap { match in
            let digits = match.0.filter(\.isNumber)
            return digits.count <= 9 ? Int(digits) : nil
        }
    }

    /// A name of letters, digits, `-` and `_`, in lower case.
    static func name(_ text: String, or standard: String) -> String {
        let words = text.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
        let name = words.joined(separator: "-").trimmingPrefix(/_+/).prefix(maximumNameLength - 16)
        return name.isEmpty ? standard : String(name)
    }

    /// The names that RevenueCat's SDKs know for packages of a period.
    private static let packages = [
        "P1W": "$rc_weekly", "P1M": "$rc_monthly", "P2M": "$rc_two_month", "P3M": "$rc_three_month",
        "P6M": "$rc_six_month", "P1Y": "$rc_annual",
    ]

    /// The content of `Offerings.json`: a right for each collection of subscriptions, and one offering of all products.
    package var offeringsText: String {
        let subscribed = entries.filter { $0.product.subscription != nil }
        let items = (subscribed.isEmpty ? entries : subscribed).compactMap(\.benefit.item)
        var collections: [String] = []
        for item in items where !collections.contains(item.collection) { collections.append(item.collection) }
        let rights = collections.prefix(Catalog.maximumRights).map { collection in
            let items = Set(items.filter { $0.collection == collection }).sorted().prefix(Right.maximumSources).map {
                "{ \"collection\": \(Self.json($0.collection)), \"number\": \($0.number) }"
            }
            return "{ \"name\": \(Self.json(collection)), \"items\": [\(items.joined(separator: ", "))] }"
        }
        let packages = packages.map {
            "{ \"identifier\": \(Self.json($0.identifier)), \"productID\": \(Self.json($0.product)) }"
        }
        return """
            {
              "rights": \(Self.list(rights, indentation: "  ")),
              "currentOffering": "default",
              "offerings": [
                { "identifier": "default", "description": "All products", "packages": \(
                    Self.list(packages, indentation: "    ")) }
              ]
            }

            """
    }

    /// A package for each product. A subscription is named after its period, another product after its identifier.
    private var packages: [(identifier: String, product: String)] {
        var taken: Set<String> = []
        return entries.prefix(Offering.maximumPackages).map { entry in
            let product = entry.product.productIdentifier
            let period = entry.product.subscription.flatMap { Self.packages[$0.period.description] }
            let last = Self.name(product.split(separator: ".").last.map(String.init) ?? "", or: "product")
            var identifier = period.flatMap { taken.contains($0) ? nil : $0 } ?? last
            var number = 2
            while !taken.insert(identifier).inserted {
                identifier = "\(last)-\(number)"
                number += 1
            }
            return (identifier, product)
        }
    }

    private static func json(_ text: String) -> String { JSONValue.string(text).compactText }

    private static func list(_ lines: [String], indentation: String) -> String {
        guard !lines.isEmpty else { return "[]" }
        return "[\n" + lines.map { "\(indentation)  \($0)" }.joined(separator: ",\n") + "\n\(indentation)]"
    }
}
