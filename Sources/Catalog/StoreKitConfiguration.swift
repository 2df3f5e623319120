import Foundation
import Proofs

/// A `.storekit` file in the format of Xcode's StoreKit configurations, versions 1.0 to 5.0.
///
/// The text is kept with unknown keys and white space, so that a file is written back byte for byte.
package struct StoreKitConfiguration: Sendable {
    package let storefront: Storefront
    /// The one-time products, then the non-renewing ones, then the subscriptions of each group, each in the file's order.
    package let products: [Product]
    package let settings: StoreKitSettings
    /// The key that signs promotional offers; nil if the file has none.
    package let subscriptionOffersKeyPair: SubscriptionOffersKeyPair?
    /// The entries as the file has them, by product identifier.
    let entries: [String: JSONObject]
    /// The original text of the file. Versions of Xcode differ in white space.
    package let text: String

    /// A key that signs promotional offers (`subscriptionOffersKeyPair`).
    package struct SubscriptionOffersKeyPair: Sendable {
        package let identifier: String
        /// The private key: PKCS#8, in base64.
        package let privateKey: String
    }

    /// - Parameters:
    /// - json: The bytes of the file.
    /// - file: The name of the file in error messages.
    package init(json: [UInt8], file: String) throws(CatalogError) {
        try self.init(try CatalogReader(file: file, json: json), text: String(decoding: json, as: UTF8.self))
    }

    /// - Parameter file: The path of the file.
    package init(file: String) throws(CatalogError) {
        try self.init(json: try CatalogReader.bytes(of: URL(filePath: file)), file: file)
    }

    private init(_ root: CatalogReader, text: String) throws(CatalogError) {
        self.text = text
        let countryCode = try root.optional("settings")?.optionalString("_storefront")
        guard let storefront = Storefront(countryCode: countryCode ?? "USA") else {
            throw try root.required("settings").required("_storefront").failure(
                "it is no storefront of the App Store; write the country as ISO 3166-1 does, such as USA")
        }
        self.storefront = storefront
        settings = try StoreKitSettings(root.optional("settings"))
        let pair = try root.optional("subscriptionOffersKeyPair")
        if let identifier = try pair?.optionalString("id"), let privateKey = try pair?.optionalString("privateKey") {
            subscriptionOffersKeyPair = SubscriptionOffersKeyPair(identifier: identifier, privateKey: privateKey)
        } else {
            subscriptionOffersKeyPair = nil
        }
        var entries: [String: JSONObject] = [:]
        products = try Self.products(root, currency: storefront.currency, entries: &entries)
        self.entries = entries
    }

    package func product(_ productIdentifier: String) -> Product? {
        products.first { $0.productIdentifier == productIdentifier }
    }

    private static func products(
        _ root: CatalogReader,
        currency: String,
        entries: inout [String: JSONObject]
    ) throws(CatalogError) -> [Product] {
        var products: [Product] = []
        for (key, types) in [
            ("products", [ProductType.consumable, .nonConsumable]),
            ("nonRenewingSubscriptions", [.nonRenewingSubscription]),
        ] {
            // Files of version 1.0 have no non-renewing subscriptions.
            for entry in try (key == "products" ? root.required(key) : root.optional(key))?.elements() ?? [] {
                let reader = ProductReader(entry: entry, currency: currency)
                let product = try reader.product(type: try reader.type(among: types))
                try add(product, at: entry, to: &products)
                if case .object(let object) = entry.value { entries[product.productIdentifier] = object }
            }
        }
        for group in try root.optional("subscriptionGroups")?.elements() ?? [] {
            let found = try SubscriptionReader(currency: currency).products(ofGroup: group)
            for (product, entry) in zip(found, try group.required("subscriptions").elements()) {
                try add(product, at: entry, to: &products)
                guard case .object(var object) = entry.value, let subscription = product.subscription else { continue }
                // The group's keys belong to all of its products.
                _ = object.add(ProductDefinition.groupIdentifier, .string(subscription.groupIdentifier))
                _ = object.add(ProductDefinition.groupName, .string(subscription.groupName))
                entries[product.productIdentifier] = object
            }
        }
        return products
    }

    private static func add(
        _ product: Product,
        at entry: CatalogReader,
        to products: inout [Product]
    ) throws(CatalogError) {
        guard !products.contains(where: { $0.productIdentifier == product.productIdentifier }) else {
            throw try entry.required("productID").failure("\(product.productIdentifier) is there twice")
        }
        products.append(product)
    }
}
