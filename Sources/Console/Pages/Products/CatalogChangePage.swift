import Catalog
import Features
import Ledger
import Proofs

/// The page of a change to the catalog, with its undo.
struct CatalogChangePage {
    let context: ConsoleContext
    let address: ProductAddress
    let revision: CatalogRevision
    /// The names of API keys by their identifiers.
    let keys: [String: String]

    private var change: CatalogChange { revision.change }

    var page: Page {
        Page(Phrase("Change \(change.number)", "변경 \(change.number)"), section: .products) {
            section(.class("card")) {
                Facts.list([
                    (
                        Phrase("Product", "상품"),
                        a(.href(address.path())) { data(change.subject.identifier) }
                    ),
                    (Phrase("Change", "변경"), HTML { ProductWords.title(of: change.content.kind) }),
                    (Phrase("When", "시각"), Shown.moment(change.happenedAt)),
                    (Phrase("By", "변경한 사람"), ActorWords.html(caller: change.changedBy, keys)),
                ])
                p(.class("actions")) {
                    a(.class("button"), .href(address.path("history"))) { Phrase("History", "변경 기록") }
                }
            }
            Self.detail(of: revision)
            if context.may(.catalog) {
                h2 { Phrase("Undo", "되돌리기") }
                undo
            }
        }
    }

    /// The content of a change: the difference of the definitions, or the picture.
    static func detail(of revision: CatalogRevision) -> HTML? {
        switch revision.change.content {
        case .definition, .reversion:
            DefinitionDiff(before: revision.before.definition, after: revision.after.definition).html
        case .picture(let item, let digest):
            p(.class("note")) {
                data(item.description)
                plain(" · SHA-256 ")
                code {
                    plain(digest.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
                }
            }
        case .withdrawal, .restoration: nil
        }
    }

    private var undo: HTML {
        guard revision.isUndoable else {
            return p(.class("note")) {
                Phrase(
                    "Earlier pictures are not kept. To undo the change, upload the earlier picture again.",
                    "이전 그림은 보관하지 않습니다. 되돌리려면 이전 그림을 다시 올리세요.")
            }
        }
        let present = address.app.catalog
        let definition = present.definition(of: address.productIdentifier)
        return section(.class("card")) {
            p { target }
            if [.defined, .reverted].contains(change.content.kind) {
                DefinitionDiff(before: definition, after: revision.before.definition).html
            }
            context.form(to: address.path("history", String(change.number), "undo")) {
                input(.type("hidden"), .name(ProductFields.version), .value(ProductFields.tag(of: definition)))
                button(.class("danger")) { Phrase("Undo the change", "변경 되돌리기") }
            }
        }
    }

    /// The state of the product after the undo.
    private var target: Phrase {
        switch change.content.kind {
        case .withdrawn: Phrase("The product returns to sale.", "상품을 다시 판매합니다.")
        case .restored:
            revision.before.isWithdrawn
                ? Phrase("The product is withdrawn from sale.", "상품 판매를 중단합니다.")
                : Phrase("The product stays for sale.", "상품을 계속 판매합니다.")
        case .defined, .reverted, .pictured:
            revision.before.definition == nil
                ? Phrase(
                    "The product did not exist before the change, so it is removed.",
                    "변경 전에는 상품이 없었으므로 삭제됩니다.")
                : Phrase(
                    "The product gets its definition before the change. Later changes of the definition are lost:",
                    "상품이 변경 전의 정의로 돌아갑니다. 이후의 정의 변경은 사라집니다:")
        }
    }
}
