import Catalog
import Foundation
import Proofs

/// A catalog in a file, with the names of Google's JSON.
///
/// `oneTimeProducts` is a list of `OneTimeProduct`, as `monetization.onetimeproducts.list` answers it; `oneTimeProductOffers` has their
/// offers, and `subscriptions` and `subscriptionOffers` are those of `monetization.subscriptions`.
package struct PlayCatalog: Sendable {
    private struct Content: Decodable {
        var oneTimeProducts: [OneTimeProduct]?
        var oneTimeProductOffers: [OneTimeProductOffer]?
        var subscriptions: [CatalogSubscription]?
        var subscriptionOffers: [CatalogOffer]?
    }

    private static let maximumSize = 8 * 1024 * 1024

    /// The products, which have passed all checks.
    package let products: [OneTimeProduct]
    package let productOffers: [OneTimeProductOffer]
    package let subscriptions: [CatalogSubscription]
    package let offers: [CatalogOffer]

    /// - Throws: `CatalogError` for a file that is unreadable, or has a product that Google would refuse.
    package init(file: URL) throws(CatalogError) {
        let path = file.path
        guard let bytes = NamedFile.bytes(of: file, upTo: Self.maximumSize).map({ Data($0) }) else {
            throw CatalogError(
                file: path,
                reason: NamedFile.isMissing(path)
                    ? "the file is missing" : "it cannot be read, or has more than \(Self.maximumSize) bytes")
        }
        let content: Content
        do { content = try JSONDecoder().decode(Content.self, from: bytes) } catch {
            throw CatalogError(
                file: path,
                reason:
                    "it has to be an object with oneTimeProducts, a list of OneTimeProduct of the Play Developer API")
        }
        products = try Self.checked(content.oneTimeProducts, of: path)
        productOffers = try Self.checked(content.oneTimeProductOffers, of: path)
        subscriptions = try Self.checked(content.subscriptions, of: path)
        offers = try Self.checked(content.subscriptionOffers, of: path)
    }

    /// The resources of a file after their checks.
    private static func checked<Resource: CatalogRules>(_ resources: [Resource]?, of path: String) throws(CatalogError)
        -> [Resource]
    {
        var valid: [Resource] = []
        for resource in resources ?? [] {
            let name = "the product \"\(resource.levels.first ?? "")\""
            guard let packageName = resource.packageName, PackageName.isValid(packageName) else {
                throw CatalogError(file: path, reason: "\(name) needs a packageName, such as com.example.app")
            }
            do { valid.append(try resource.checked(in: packageName)) } catch {
                throw CatalogError(file: path, reason: "\(name): \(error.message)")
            }
        }
        return valid
    }

    /// The products of a StoreKit configuration: one-time products with one purchase option, and subscriptions with one base plan, each
    /// in the country of its storefront.
    package init(_ configuration: StoreKitConfiguration, bundleIdentifier: String) {
        let packageName = PackageName.name(ofApp: bundleIdentifier)
        let region = configuration.storefront.shortCountryCode
        (offers, productOffers) = ([], [])
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

extension PlayBooks {
    /// Adds the apps and products of a catalog. Products that the Play has already are replaced; others stay.
    package func add(_ catalog: PlayCatalog) throws {
        let apps =
            catalog.products.map(\.packageName) + catalog.productOffers.map(\.packageName)
            + catalog.subscriptions.map(\.packageName) + catalog.offers.map(\.packageName)
        for packageName in Set(apps.compactMap(\.self)).sorted() { try addApp(packageName) }
        for product in catalog.products { try keep(product) }
        for offer in catalog.productOffers { try keep(offer) }
        for subscription in catalog.subscriptions { try keep(subscription) }
        for offer in catalog.offers { try keep(offer) }
    }
}
