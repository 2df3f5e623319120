import Catalog
import Proofs

extension ProductsRoutes {
    /// The page of a product: everything the catalog knows about it, and the actions on it.
    func page(of listed: ListedProduct, _ context: ConsoleContext) -> Page {
        let product = listed.product
        let isAdministered = services.administration != nil
        return Page(Phrase(same: listed.title(context.language)), section: .products) {
            Self.card(of: listed, isAdministered: isAdministered)
            if isAdministered {
                if context.may(.catalog) { Self.actions(on: listed, context) }
            } else {
                CatalogSwitch.note
            }
            h2 { "Texts" }
            Listing.table("Texts in each language", of: product.localizations, empty: "The product has no texts.") {
                column("Language") { plain($0.locale) }
                column("Name") { data($0.displayName) }
                column("Description") { data($0.description) }
            }
            if let subscription = product.subscription {
                h2 { "Offers" }
                Listing.table("Offers", of: subscription.offers, empty: "The subscription has no offers.") {
                    column("Kind") { $0.kind.title }
                    column("Identifier") { Shown.identifier($0.identifier) }
                    column("Terms") { ProductWords.terms(of: $0) }
                    column("Customers") { ProductWords.titles(of: $0.eligibility) }
                }
            }
            h2 { "In App Store Connect" }
            note("App Store Connect must have the same product. Till cannot see it; compare each entry.")
            AppStoreConnectChecklist(product: product, storefront: listed.catalog.storefront).table
            h2 { "Definition" }
            if let object = listed.catalog.definition(of: product.productIdentifier) {
                details {
                    summary { "Show the definition as JSON" }
                    pre(.id("definition")) { plain(JSONValue.object(object).prettyText) }
                }
                p(.class("actions")) { Shown.copyButton(for: "definition") }
            }
        }
    }

    /// The picture and the facts of a product, and the ways to its customers and its history.
    private static func card(of listed: ListedProduct, isAdministered: Bool) -> HTML {
        let (product, address) = (listed.product, listed.address)
        return section(.class("card")) {
            if listed.picture != nil {
                img(
                    .class("picture large"), .src(address.path("picture")),
                    HTMLAttribute("alt", "Picture of the item"))
            }
            Facts.list {
                fact("Product identifier") { Shown.identifier(product.productIdentifier) }
                fact("State") { listed.marks }
                fact("App") { Shown.identifier(listed.catalog.bundleIdentifier) }
                fact("Type") { product.type.title }
                fact("Reference name") { data(product.referenceName) }
                fact("Price") {
                    Shown.money(product.price)
                    plain(" · " + listed.catalog.storefront.countryCode)
                }
                fact("Grants") { listed.benefit.map(ProductWords.sentence) }
                fact("Family Sharing") { product.isFamilyShareable ? "on" : "off" }
                if let subscription = product.subscription {
                    fact("Subscription group") {
                        spaced(data(subscription.groupName), Shown.identifier(subscription.groupIdentifier))
                    }
                    fact("Level in the group") { plain(String(subscription.level)) }
                    fact("Period") { subscription.period.words() }
                }
            }
            p(.class("actions")) {
                a(.class("button"), .href(ConsolePath("customers", query: ["product": product.productIdentifier]))) {
                    "Latest customers"
                }
                if let path = address.retention() { a(.class("button"), .href(path)) { "Retention message" } }
                if isAdministered { a(.class("button"), .href(address.path("history"))) { "History" } }
            }
        }
    }

    /// The actions on a product: edit, picture, withdrawal, return to sale, and the definition of the files.
    private static func actions(on listed: ListedProduct, _ context: ConsoleContext) -> HTML {
        let (identifier, address) = (listed.product.productIdentifier, listed.address)
        let isOfFiles = address.app.files.product(identifier) != nil
        return section(.ariaLabel("Actions")) {
            p(.class("actions")) { a(.class("button primary"), .href(address.path("edit"))) { "Edit" } }
            if listed.benefit?.item != nil {
                context.action(
                    "Upload a picture", to: address.path("picture"), submit: "Upload", .primary,
                    HTMLAttribute("enctype", "multipart/form-data")
                ) {
                    labelled(
                        "picture", "Picture of the item",
                        note: "SVG, PNG or JPEG, up to \(Picture.maximumSize / 1024) KB."
                    ) {
                        input(
                            .type("file"), .id("picture"), .name("picture"), .required,
                            HTMLAttribute("accept", Picture.Format.allCases.map(\.mediaType).joined(separator: ",")),
                            HTMLAttribute("aria-describedby", "picture-note"))
                    }
                }
            }
            if listed.catalog.isWithdrawn(identifier) {
                context.action("Return to sale", to: address.path("return"), submit: "Return to sale") {
                    p { "Apps show the product again." }
                }
            } else {
                context.action(
                    "Withdraw from sale", to: address.path("withdrawal"), submit: "Withdraw from sale", .danger
                ) {
                    p { "Apps no longer show the product. Customers keep what they bought, and subscriptions renew." }
                }
            }
            if listed.catalog.isAdministered(identifier) {
                context.action(
                    isOfFiles ? "Restore the definition of the files" : "Remove the product",
                    to: address.path("reversion"), submit: isOfFiles ? "Restore" : "Remove", .danger
                ) {
                    p {
                        isOfFiles
                            ? "The product gets the definition of the catalog's files, and is for sale."
                            : "The files do not have the product, so it is removed. A product that a customer has redeemed cannot be removed."
                    }
                }
            }
        }
    }
}
