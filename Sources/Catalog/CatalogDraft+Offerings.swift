import Proofs

extension CatalogDraft {
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
