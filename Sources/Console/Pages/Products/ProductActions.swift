import Catalog
import Proofs

extension ProductPage {
    /// The actions on a product: edit, picture, withdrawal, return to sale, and the definition of the files.
    var actions: HTML {
        let identifier = product.productIdentifier
        return section(.ariaLabel("Actions")) {
            p(.class("actions")) { a(.class("button primary"), .href(address.path("edit"))) { "Edit" } }
            if listed.benefit?.item != nil { picture }
            listed.catalog.isWithdrawn(identifier) ? returnToSale : withdrawal
            if listed.catalog.isAdministered(identifier) { reversion }
        }
    }

    private var picture: HTML {
        context.action(
            "Upload a picture", to: address.path("picture"), submit: "Upload", .primary,
            HTMLAttribute("enctype", "multipart/form-data")
        ) {
            div(.class("field")) {
                label(.for("picture")) { "Picture of the item" }
                input(
                    .type("file"), .id("picture"), .name("picture"), .required,
                    HTMLAttribute("accept", Picture.Format.allCases.map(\.mediaType).joined(separator: ",")),
                    HTMLAttribute("aria-describedby", "picture-note"))
                small(.id("picture-note")) { "SVG, PNG or JPEG, up to \(Picture.maximumSize / 1024) KB." }
            }
        }
    }

    private var withdrawal: HTML {
        context.action("Withdraw from sale", to: address.path("withdrawal"), submit: "Withdraw from sale", .danger) {
            p { "Apps no longer show the product. Customers keep what they bought, and subscriptions renew." }
        }
    }

    private var returnToSale: HTML {
        context.action("Return to sale", to: address.path("return"), submit: "Return to sale") {
            p { "Apps show the product again." }
        }
    }

    private var reversion: HTML {
        let isOfFiles = address.app.files.product(product.productIdentifier) != nil
        return context.action(
            isOfFiles ? "Restore the definition of the files" : "Remove the product", to: address.path("reversion"),
            submit: isOfFiles ? "Restore" : "Remove", .danger
        ) {
            p {
                isOfFiles
                    ? "The product gets the definition of the catalog's files, and is for sale."
                    : "The files do not have the product, so it is removed. A product that a customer has redeemed cannot be removed."
            }
        }
    }
}
