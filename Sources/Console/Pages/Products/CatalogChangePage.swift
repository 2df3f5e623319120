import Features
import Hummingbird

extension ProductChangeRoutes {
    /// The page of a change to the catalog, with its undo.
    func change(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let (address, revision) = try await revision(request, context)
        let keys = try await entitlements.ledger.apiKeyNames()
        let change = revision.change
        return Page("Change \(change.number)", section: .products) {
            section(.class("card")) {
                Facts.list {
                    fact("Product") { a(.href(address.path())) { data(change.subject.identifier) } }
                    fact("Change") { ProductWords.title(of: change.content.kind) }
                    fact("When") { Shown.moment(change.happenedAt) }
                    fact("By") { ActorWords.html(caller: change.changedBy, keys) }
                }
                p(.class("actions")) { a(.class("button"), .href(address.path("history"))) { "History" } }
            }
            Self.detail(of: revision)
            if context.may(.catalog) {
                h2 { "Undo" }
                if revision.isUndoable {
                    let definition = address.app.catalog.definition(of: address.productIdentifier)
                    section(.class("card")) {
                        p { Self.target(of: revision) }
                        if [.defined, .reverted].contains(change.content.kind) {
                            DefinitionDiff(before: definition, after: revision.before.definition).html
                        }
                        context.form(to: address.path("history", String(change.number), "undo")) {
                            input(.type("hidden"), .name(ProductForm.version), .value(ProductForm.tag(of: definition)))
                            button(.class("danger")) { "Undo the change" }
                        }
                    }
                } else {
                    note("Earlier pictures are not kept. To undo the change, upload the earlier picture again.")
                }
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
                code { plain(digest.prefix(8).hexadecimal) }
            }
        case .withdrawal, .restoration: nil
        }
    }

    /// The state of the product after the undo.
    private static func target(of revision: CatalogRevision) -> Phrase {
        switch revision.change.content.kind {
        case .withdrawn: "The product returns to sale."
        case .restored:
            revision.before.isWithdrawn ? "The product is withdrawn from sale." : "The product stays for sale."
        case .defined, .reverted, .pictured:
            revision.before.definition == nil
                ? "The product did not exist before the change, so it is removed."
                : "The product gets its definition before the change. Later changes of the definition are lost:"
        }
    }
}
