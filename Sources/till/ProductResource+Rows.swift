import ArgumentParser
import Catalog
import HTTPSupport
import Proofs
import Service

extension ProductResource {
    /// `USD 4.99 every month`.
    var priceWithPeriod: String {
        guard let period = subscription.flatMap({ SubscriptionPeriod($0.period) }) else { return displayPrice }
        return "\(displayPrice) every \(period.words)"
    }
}

extension [ProductResource] {
    /// - Parameters:
    ///   - catalog: The benefits of the products; nil for a StoreKit configuration alone.
    ///   - locale: The language of the texts; nil for English, or else the first language.
    /// - Throws: `ValidationError` for a language without texts.
    init(_ products: [Product], in catalog: Catalog?, locale: String?) throws {
        let languages = products.languages
        if let locale, !languages.contains(locale) {
            throw ValidationError(
                "There are no texts in \"\(locale)\": choose one of \(languages.sorted().joined(separator: ", ")).")
        }
        let pictures = catalog.map { PictureAddresses(catalog: $0) }
        self = products.map { product in
            let benefit = catalog?.benefit(of: product.productIdentifier)
            return ProductResource(
                product, benefit: benefit, localization: product.localization(language: locale ?? "en"),
                picture: benefit?.item.flatMap { pictures?[$0] })
        }
    }
}
