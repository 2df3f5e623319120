import AppStore
import Catalog
import Proofs

/// The products of the store by name, in the order of its configuration.
struct StoreNames {
    let products: [Product]

    init(_ store: Store) { products = store.configuration.products }

    /// The name of a product; its identifier if the store does not sell it.
    func product(_ identifier: String) -> Phrase {
        products.first { $0.productIdentifier.hasSameBytes(as: identifier) }?.title ?? Phrase(same: identifier)
    }

    /// The name with the quantity, if it is more than one.
    @HTMLBuilder func product(_ identifier: String, quantity: Int) -> HTML {
        bdi { product(identifier) }
        if quantity > 1 { plain(" × \(quantity)") }
    }

    func product(_ payment: Payment) -> HTML { product(payment.productIdentifier, quantity: payment.quantity) }

    /// All products for a choice.
    ///
    /// - Parameter chosen: A product that the choice has even if the store does not sell it; nil for none.
    func choices(with chosen: String?) -> [(value: String, title: Phrase)] {
        let isKnown = chosen == nil || products.contains { $0.productIdentifier == chosen }
        let others = isKnown ? [] : [chosen].compactMap(\.self).map { ($0, Phrase(same: CustomerWords.isolated($0))) }
        return products.map { ($0.productIdentifier, CustomerWords.isolated($0.title)) } + others
    }

    /// A field for a product, by name and price, in the groups of the kinds.
    func field(chosen: String?) -> HTML {
        div(.class("field")) {
            label(.for("product")) { "Product" }
            select(.id("product"), .name("product")) {
                for type in ProductType.allCases {
                    let products = products.filter { $0.type == type }
                    if !products.isEmpty {
                        optgroup(HTMLAttribute("label", type.title)) {
                            for product in products {
                                let identifier = product.productIdentifier
                                option(.value(identifier), identifier == chosen ? .selected : nil) {
                                    CustomerWords.isolated(product.title)
                                    also(product.price.phrase, by: " · ")
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

extension Product {
    /// The name in each language; the name for the team if the product has no other.
    var title: Phrase {
        func name(_ language: ConsoleLanguage) -> String {
            let name = localization(language: language.rawValue)?.displayName ?? ""
            return name.isEmpty ? referenceName : name
        }
        return Phrase(english: name(.english), korean: name(.korean))
    }
}
