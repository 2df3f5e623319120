import Foundation
import Proofs

/// A `.storekit` file in the format of Xcode's StoreKit configurations, versions 1.0 to 6.3. The bundles and suites of version 6.3 are kept, and are
/// no products.
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
        var root = try CatalogReader(file: file, json: json)
        text = String(decoding: json, as: UTF8.self)
        let countryCode = try root.optional("settings")?.optionalString("_storefront")
        guard let storefront = Storefront(countryCode: countryCode ?? "USA") else {
            throw try root.required("settings").required("_storefront").failure(
                "it is no storefront of the App Store; write the country as ISO 3166-1 does, such as USA")
        }
        self.storefront = storefront
        root.currency = storefront.currency
        settings = try StoreKitSettings(root.optional("settings"))
        let pair = try root.optional("subscriptionOffersKeyPair")
        if let identifier = try pair?.optionalString("id"), let privateKey = try pair?.optionalString("privateKey") {
            subscriptionOffersKeyPair = SubscriptionOffersKeyPair(identifier: identifier, privateKey: privateKey)
        } else {
            subscriptionOffersKeyPair = nil
        }
        var entries: [String: JSONObject] = [:]
        products = try Self.products(root, entries: &entries)
        self.entries = entries
    }

    package init(file: String) throws(CatalogError) {
        try self.init(json: try CatalogReader.bytes(of: URL(filePath: file)), file: file)
    }

    package func product(_ productIdentifier: String) -> Product? {
        products.first { $0.productIdentifier == productIdentifier }
    }

    private static func products(
        _ root: CatalogReader,
        entries: inout [String: JSONObject]
    ) throws(CatalogError) -> [Product] {
        var products: [Product] = []
        for (key, types) in [
            ("products", [ProductType.consumable, .nonConsumable]),
            ("nonRenewingSubscriptions", [.nonRenewingSubscription]),
        ] {
            // Files of version 1.0 have no non-renewing subscriptions.
            for entry in try (key == "products" ? root.required(key) : root.optional(key))?.elements() ?? [] {
                let product = try entry.product(type: try entry.productType(among: types))
                try add(product, at: entry, to: &products)
                if case .object(let object) = entry.value { entries[product.productIdentifier] = object }
            }
        }
        for group in try root.optional("subscriptionGroups")?.elements() ?? [] {
            let found = try group.subscriptions()
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

/// The settings of a `.storekit` file for its store (Xcode's StoreKit Configuration Settings).
///
/// The indices of `_storeKitErrors` are undocumented; Till assumes the order of the SDK. The key for interrupted purchases is
/// undocumented, too. Till uses `_billingIssuesEnabled`, which is older than billing retry.
package struct StoreKitSettings: Hashable, Sendable {
    package let timeRate: TimeRate
    /// `_askToBuyEnabled`
    package let isAskToBuyEnabled: Bool
    /// `_billingIssuesEnabled`
    package let areInterruptedPurchasesEnabled: Bool
    /// `_billingGracePeriodEnabled`
    package let isBillingGracePeriodEnabled: Bool
    /// `_renewalBillingIssuesEnabled`
    package let shouldEnterBillingRetryOnRenewal: Bool
    /// The error of every payment (`_failTransactionsEnabled`, `_storeKitError`); nil if payments succeed.
    package let failureError: SKErrorCode?
    /// The simulated errors of StoreKit's calls (`_storeKitErrors`); calls that succeed are left out.
    package let storeKitErrors: [StoreKitCall: StoreKitFailure]
    /// The app's number in the App Store, in files synchronised by Xcode (`_applicationInternalID`).
    package let appAppleIdentifier: Int64?
    /// `_locale`
    package let locale: String

    init(_ settings: CatalogReader?) throws(CatalogError) {
        func flag(_ key: String) throws(CatalogError) -> Bool { try settings?.optional(key)?.bool() ?? false }
        isAskToBuyEnabled = try flag("_askToBuyEnabled")
        areInterruptedPurchasesEnabled = try flag("_billingIssuesEnabled")
        isBillingGracePeriodEnabled = try flag("_billingGracePeriodEnabled")
        shouldEnterBillingRetryOnRenewal = try flag("_renewalBillingIssuesEnabled")
        let code = try settings?.optional("_storeKitError")?.count() ?? 0
        failureError = try flag("_failTransactionsEnabled") ? SKErrorCode(rawValue: code) ?? .unknown : nil
        locale = try settings?.optionalString("_locale") ?? "en_US"
        storeKitErrors = try Self.storeKitErrors(settings)
        appAppleIdentifier = try (settings?.optionalString("_applicationInternalID")).flatMap { Int64($0) }
        // A rate that StoreKitTest has dropped means real time, as in Xcode's menu.
        timeRate = try (settings?.optional("_timeRate")?.count()).flatMap(TimeRate.init) ?? .realTime
    }

    private static let callNames: [String: StoreKitCall] = [
        "Load Products": .loadProducts, "Purchase": .purchase, "Verification": .verification,
        "App Store Sync": .appStoreSync, "Subscription Status": .subscriptionStatus, "App Transaction": .appTransaction,
        "Manage Subscriptions Sheet": .manageSubscriptionsSheet, "Refund Request Sheet": .refundRequestSheet,
        "Offer Code Redeem Sheet": .offerCodeRedeemSheet,
    ]

    /// Unknown names, types and numbers belong to a later Xcode and are ignored.
    private static func storeKitErrors(
        _ settings: CatalogReader?
    ) throws(CatalogError) -> [StoreKitCall: StoreKitFailure] {
        var errors: [StoreKitCall: StoreKitFailure] = [:]
        for entry in try settings?.optional("_storeKitErrors")?.elements() ?? [] {
            guard try entry.optional("enabled")?.bool() == true, let current = try entry.optional("current"),
                let call = callNames[try entry.required("name").text()]
            else { continue }
            let failures: [StoreKitFailure] =
                switch try current.required("type").text() {
                case "generic": StoreKitFailure.generic
                case "purchase": StoreKitFailure.ofPurchase
                case "verification": StoreKitFailure.ofVerification
                default: []
                }
            let index = try current.required("index").count()
            guard failures.indices.contains(index), call.failures.contains(failures[index]) else { continue }
            errors[call] = failures[index]
        }
        return errors
    }
}
