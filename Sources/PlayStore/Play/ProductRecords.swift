import Catalog
import Foundation
import GRDB
import Proofs

/// The apps and their one-time products: the catalog of the local Play.
extension PlayBooks {
    /// Adds an app without products, unless the Play has it, and hands its licensing key to the services that trust the Play.
    package func addApp(_ packageName: String) throws {
        try database.execute(
            literal: "INSERT INTO app (package_name) VALUES (\(packageName)) ON CONFLICT DO NOTHING")
        try trust(packageName, try keys.key(.licensing(packageName: packageName)).publicKey)
    }

    package func hasApp(_ packageName: String) throws -> Bool {
        try SQLRequest<Bool>("SELECT EXISTS (SELECT 1 FROM app WHERE package_name = \(packageName))")
            .fetchOne(database) ?? false
    }

    /// The package names of all apps.
    package func apps() throws -> [String] {
        try String.fetchAll(database, sql: "SELECT package_name FROM app ORDER BY package_name")
    }

    package func product(_ productId: String, of packageName: String) throws -> OneTimeProduct? {
        try SQLRequest<String>(
            """
            SELECT record FROM one_time_product
            WHERE package_name = \(packageName) AND product_id = \(productId)
            """
        ).fetchOne(database).map { try PlayRecord.value($0) }
    }

    /// The products of an app in the order of their identifiers, after one of them.
    package func products(of packageName: String, after productId: String = "", limit: Int = 1000) throws
        -> [OneTimeProduct]
    {
        try SQLRequest<String>(
            """
            SELECT record FROM one_time_product
            WHERE package_name = \(packageName) AND product_id > \(productId)
            ORDER BY product_id LIMIT \(limit)
            """
        ).fetchAll(database).map { try PlayRecord.value($0) }
    }

    /// Adds or replaces a product.
    func keep(_ product: OneTimeProduct) throws {
        try database.execute(
            literal: """
                INSERT INTO one_time_product (package_name, product_id, record)
                VALUES (\(product.packageName), \(product.productId), \(try PlayRecord.text(product)))
                ON CONFLICT (package_name, product_id) DO UPDATE SET record = excluded.record
                """)
    }

    /// Adds the apps and products of a catalog. Products that the Play has already are replaced; others stay.
    package func add(_ catalog: PlayCatalog) throws {
        let apps =
            catalog.products.map(\.packageName) + catalog.subscriptions.map(\.packageName)
            + catalog.offers.map(\.packageName)
        for packageName in Set(apps.compactMap(\.self)).sorted() { try addApp(packageName) }
        for product in catalog.products where product.packageName != nil { try keep(product) }
        for subscription in catalog.subscriptions where subscription.packageName != nil { try keep(subscription) }
        for offer in catalog.offers where offer.packageName != nil { try keep(offer) }
    }
}

/// A catalog in a file, with the names of Google's JSON.
///
/// `oneTimeProducts` is a list of `OneTimeProduct`, as `monetization.onetimeproducts.list` answers it; `subscriptions` and
/// `subscriptionOffers` are those of `monetization.subscriptions`.
package struct PlayCatalog: Sendable {
    private struct Content: Decodable {
        var oneTimeProducts: [OneTimeProduct]?
        var subscriptions: [CatalogSubscription]?
        var subscriptionOffers: [CatalogOffer]?
    }

    private static let maximumSize = 8 * 1024 * 1024

    /// The products, which have passed all checks.
    package let products: [OneTimeProduct]
    package let subscriptions: [CatalogSubscription]
    package let offers: [CatalogOffer]

    /// - Throws: `CatalogError` for a file that is unreadable, or has a product that Google would refuse.
    package init(file: URL) throws(CatalogError) {
        let path = file.path
        func failure(_ reason: String) -> CatalogError { CatalogError(file: path, reason: reason) }
        guard let bytes = try? Data(contentsOf: file), bytes.count <= Self.maximumSize else {
            throw failure("it cannot be read, or has more than \(Self.maximumSize) bytes")
        }
        let content: Content
        do { content = try JSONDecoder().decode(Content.self, from: bytes) } catch {
            throw failure(
                "it has to be an object with oneTimeProducts, a list of OneTimeProduct of the Play Developer API")
        }
        func named(_ packageName: String?, _ productId: String?) throws(CatalogError) -> String {
            guard let packageName, PackageName.isValid(packageName) else {
                throw failure("the product \"\(productId ?? "")\" needs a packageName, such as com.example.app")
            }
            return packageName
        }
        func checked<Value>(
            _ productId: String?, _ check: () throws(PublisherError) -> Value
        ) throws(CatalogError) -> Value {
            do { return try check() } catch { throw failure("the product \"\(productId ?? "")\": \(error.message)") }
        }
        var products: [OneTimeProduct] = []
        for product in content.oneTimeProducts ?? [] {
            let packageName = try named(product.packageName, product.productId)
            let valid = try checked(product.productId) { () throws(PublisherError) in
                try product.checked(in: packageName)
            }
            products.append(valid)
        }
        self.products = products
        var subscriptions: [CatalogSubscription] = []
        for product in content.subscriptions ?? [] {
            let packageName = try named(product.packageName, product.productId)
            let valid = try checked(product.productId) { () throws(PublisherError) in
                try product.checked(in: packageName)
            }
            subscriptions.append(valid)
        }
        self.subscriptions = subscriptions
        var offers: [CatalogOffer] = []
        for offer in content.subscriptionOffers ?? [] {
            _ = try named(offer.packageName, offer.productId)
            let valid = try checked(offer.productId) { () throws(PublisherError) in try offer.checked() }
            offers.append(valid)
        }
        self.offers = offers
    }

    /// The products of a StoreKit configuration: one-time products with one purchase option, and subscriptions with one base plan, each
    /// in the country of its storefront.
    ///
    /// - Parameter bundleIdentifier: The app.
    package init(_ configuration: StoreKitConfiguration, bundleIdentifier: String) {
        let packageName = PackageName.name(ofApp: bundleIdentifier)
        let region = configuration.storefront.shortCountryCode
        offers = []
        subscriptions = configuration.products.compactMap { product in
            guard let period = product.subscription?.period else { return nil }
            var plan = CatalogSubscription.BasePlan(basePlanId: period.description.lowercased(), state: .active)
            plan.autoRenewingBasePlanType = .init(
                billingPeriodDuration: period.description, gracePeriodDuration: "P3D", accountHoldDuration: "P30D",
                legacyCompatible: true)
            plan.regionalConfigs = [
                .init(regionCode: region, price: Money(product.price), newSubscriberAvailability: true)
            ]
            var listed = CatalogSubscription(packageName: packageName, productId: product.productIdentifier)
            listed.basePlans = [plan]
            listed.listings = [
                .init(
                    languageCode: "en-US",
                    title: product.localizations.first?.displayName ?? product.productIdentifier)
            ]
            return try? listed.checked(in: packageName)
        }
        products = configuration.products.compactMap { product in
            guard [.consumable, .nonConsumable].contains(product.type) else { return nil }
            var option = OneTimeProduct.PurchaseOption(purchaseOptionId: "buy", state: .active)
            option.buyOption = .init(
                legacyCompatible: true, multiQuantityEnabled: product.type == .consumable ? true : nil)
            option.regionalPricingAndAvailabilityConfigs = [
                .init(
                    regionCode: region, price: Money(product.price),
                    availability: OneTimeProduct.PurchaseOption.RegionalConfig.available)
            ]
            var listed = OneTimeProduct(packageName: packageName, productId: product.productIdentifier)
            listed.listings = product.localizations.map {
                .init(
                    languageCode: $0.locale.replacing("_", with: "-"), title: String($0.displayName.prefix(55)),
                    description: String($0.description.prefix(200)))
            }
            if listed.listings?.isEmpty ?? true {
                listed.listings = [.init(languageCode: "en-US", title: product.productIdentifier)]
            }
            listed.purchaseOptions = [option]
            // A product that Google would refuse, such as one with capital letters in its identifier, is left out.
            return try? listed.checked(in: packageName)
        }
    }
}
