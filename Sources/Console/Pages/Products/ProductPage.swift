import Catalog
import Features
import Proofs

/// The page of a product: everything the catalog knows about it, and the actions on it.
struct ProductPage {
    let context: ConsoleContext
    let listed: ListedProduct
    let isAdministered: Bool

    var product: Product { listed.product }
    var address: ProductAddress { listed.address }

    var page: Page {
        Page(Phrase(same: listed.title(context.language)), section: .products) {
            section(.class("card")) {
                if listed.picture != nil {
                    img(
                        .class("picture large"), .src(address.path("picture")),
                        HTMLAttribute("alt", "Picture of the item"))
                }
                Facts.list(facts)
                links
            }
            if isAdministered {
                if context.may(.catalog) { actions }
            } else {
                CatalogSwitch.note
            }
            h2 { "Texts" }
            texts
            if product.subscription != nil {
                h2 { "Offers" }
                offers
            }
            h2 { "In App Store Connect" }
            note("App Store Connect must have the same product. Till cannot see it; compare each entry.")
            AppStoreConnectChecklist(product: product, storefront: listed.catalog.storefront).table
            h2 { "Definition" }
            definition
        }
    }

    private var links: HTML {
        p(.class("actions")) {
            a(.class("button"), .href(ConsolePath("customers", query: ["product": product.productIdentifier]))) {
                "Latest customers"
            }
            if isAdministered { a(.class("button"), .href(address.path("history"))) { "History" } }
        }
    }

    @FactsBuilder private var facts: [Fact] {
        fact("Product identifier") { Shown.identifier(product.productIdentifier) }
        fact("State") { listed.marks }
        fact("App") { Shown.identifier(listed.catalog.bundleIdentifier) }
        fact("Type") { product.type.title }
        fact("Reference name") { data(product.referenceName) }
        fact("Price") {
            Shown.money(product.price)
            plain(" · " + listed.catalog.storefront.countryCode)
        }
        fact("Grants") { ProductWords.sentence(of: listed.benefit) }
        fact("Family Sharing") { product.isFamilyShareable ? "on" : "off" }
        if let subscription = product.subscription {
            fact("Subscription group") {
                spaced(data(subscription.groupName), Shown.identifier(subscription.groupIdentifier))
            }
            fact("Level in the group") { plain(String(subscription.level)) }
            fact("Period") { subscription.period.words() }
        }
    }

    private var texts: HTML {
        Listing.table("Texts in each language", of: product.localizations, empty: "The product has no texts.") {
            column("Language") { plain($0.locale) }
            column("Name") { data($0.displayName) }
            column("Description") { data($0.description) }
        }
    }

    private var offers: HTML {
        Listing.table("Offers", of: product.subscription?.offers ?? [], empty: "The subscription has no offers.") {
            column("Kind") { $0.kind.title }
            column("Identifier") { Shown.identifier($0.identifier) }
            column("Terms") { ProductWords.terms(of: $0) }
            column("Customers") { eligibility($0.eligibility) }
        }
    }

    private func eligibility(_ customers: Set<SubscriptionOffer.Eligibility>?) -> HTML {
        guard let customers else { return Shown.nothing }
        let titles = SubscriptionOffer.Eligibility.allCases.filter(customers.contains).map {
            ProductWords.title(of: $0)
        }
        guard !titles.isEmpty else { return HTML { "none" } }
        return HTML { Phrase.joined(titles, separator: ", ") }
    }

    @HTMLBuilder private var definition: HTML {
        if let object = listed.catalog.definition(of: product.productIdentifier) {
            details {
                summary { "Show the definition as JSON" }
                pre(.id("definition")) { plain(JSONValue.object(object).prettyText) }
            }
            p(.class("actions")) { Shown.copyButton(for: "definition") }
        }
    }
}
