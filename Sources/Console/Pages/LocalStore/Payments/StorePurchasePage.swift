import AppStore
import Proofs

/// The form that buys a product as any customer.
struct StorePurchasePage {
    let context: ConsoleContext
    let products: [Product]
    /// The accounts that have bought something lately.
    let accounts: [String]
    let account: String
    let product: String?

    var page: Page {
        Page("Buy as a customer", section: .localStore) {
            LocalStoreTab.links(.buy)
            context.form(to: LocalStoreTab.buy.path) {
                div(.class("columns")) {
                    card("At the App Store") { purchase }
                    card("In the app") { redemption }
                }
                div(.class("actions")) {
                    // The first button is the one of the Enter key.
                    button(
                        .class("primary"), .name(StorePurchaseForm.then), .value(StorePurchaseForm.redeem)
                    ) { "Buy and redeem" }
                    button { "Buy only" }
                }
            }
        }
    }

    @HTMLBuilder private var purchase: HTML {
        div(.class("field")) {
            label(.for("account")) { "Account of the customer" }
            input(
                .type("text"), .id("account"), .name("account"), .value(account), .required,
                HTMLAttribute("autocomplete", "off"), HTMLAttribute("maxlength", "256"),
                HTMLAttribute("list", "accounts"))
            datalist(.id("accounts")) { for account in accounts { Console.option(.value(account)) } }
        }
        Field.choice(
            "product", "Product",
            products.map {
                ($0.productIdentifier, Phrase(same: "\($0.productIdentifier) (\($0.price.formatted))"))
            }, chosen: product)
        Field.number("quantity", "Quantity (1 to 10)", value: "1", isRequired: true)
        StorePurchaseForm.offer(products).html()
        StorePurchaseForm.outcome.html()
    }

    @HTMLBuilder private var redemption: HTML {
        p {
            "An app hands the proof of a purchase to the service. The service verifies it and grants the items, and the app then finishes the transaction."
        }
        Field.text(
            "user", "Redeem for the user",
            value: User(name: account)?.name ?? "", maximumLength: User.maximumLength,
            note: "A user that the service does not know is added.")
        StorePurchaseForm.token.html()
    }
}
