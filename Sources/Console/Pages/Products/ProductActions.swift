import Catalog
import Proofs

/// The actions on a product: edit, picture, withdrawal, return to sale, and the definition of the files.
struct ProductActions {
    let context: ConsoleContext
    let listed: ListedProduct

    private var address: ProductAddress { listed.address }
    private var identifier: String { listed.product.productIdentifier }

    var html: HTML {
        section(.ariaLabel(Phrase("Actions", "작업"))) {
            p(.class("actions")) {
                a(.class("button primary"), .href(address.path("edit"))) { Phrase("Edit", "수정") }
            }
            if listed.benefit?.item != nil { picture }
            listed.catalog.isWithdrawn(identifier) ? returnToSale : withdrawal
            if listed.catalog.isAdministered(identifier) { reversion }
        }
    }

    private var picture: HTML {
        details(.class("action")) {
            summary { Phrase("Upload a picture", "그림 올리기") }
            context.form(to: address.path("picture"), HTMLAttribute("enctype", "multipart/form-data")) {
                div(.class("field")) {
                    label(.for("picture")) { Phrase("Picture of the item", "아이템 그림") }
                    input(
                        .type("file"), .id("picture"), .name("picture"), .required,
                        HTMLAttribute(
                            "accept", Picture.Format.allCases.map(\.mediaType).joined(separator: ",")),
                        HTMLAttribute("aria-describedby", "picture-note"))
                    small(.id("picture-note")) {
                        Phrase(
                            "SVG, PNG or JPEG, up to \(Picture.maximumSize / 1024) KB.",
                            "SVG, PNG 또는 JPEG, 최대 \(Picture.maximumSize / 1024)KB.")
                    }
                }
                button(.class("primary")) { Phrase("Upload", "올리기") }
            }
        }
    }

    private var withdrawal: HTML {
        details(.class("action")) {
            summary { Phrase("Withdraw from sale", "판매 중단") }
            context.form(to: address.path("withdrawal")) {
                p {
                    Phrase(
                        "Apps no longer show the product. Customers keep what they bought, and subscriptions renew.",
                        "앱에 상품이 더 이상 표시되지 않습니다. 고객은 구매한 것을 유지하고 구독은 갱신됩니다.")
                }
                button(.class("danger")) { Phrase("Withdraw from sale", "판매 중단") }
            }
        }
    }

    private var returnToSale: HTML {
        details(.class("action")) {
            summary { Phrase("Return to sale", "판매 재개") }
            context.form(to: address.path("return")) {
                p { Phrase("Apps show the product again.", "앱에 상품이 다시 표시됩니다.") }
                button(.class("primary")) { Phrase("Return to sale", "판매 재개") }
            }
        }
    }

    private var reversion: HTML {
        let isOfFiles = address.app.files.product(identifier) != nil
        return details(.class("action")) {
            summary {
                isOfFiles
                    ? Phrase("Restore the definition of the files", "파일의 정의로 복원")
                    : Phrase("Remove the product", "상품 삭제")
            }
            context.form(to: address.path("reversion")) {
                p {
                    isOfFiles
                        ? Phrase(
                            "The product gets the definition of the catalog's files, and is for sale.",
                            "상품이 카탈로그 파일의 정의로 돌아가고 판매됩니다.")
                        : Phrase(
                            "The files do not have the product, so it is removed. A product that a customer has redeemed cannot be removed.",
                            "파일에 없는 상품이므로 삭제됩니다. 고객이 이미 구매한 상품은 삭제할 수 없습니다.")
                }
                button(.class("danger")) { isOfFiles ? Phrase("Restore", "복원") : Phrase("Remove", "삭제") }
            }
        }
    }
}
