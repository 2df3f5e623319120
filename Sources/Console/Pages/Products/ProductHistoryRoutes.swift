import Catalog
import Entitlements
import Features
import HTTPSupport
import Hummingbird

extension ProductChangeRoutes {
    /// Adds the histories of products and of the whole catalog, and the undo of changes.
    func addHistory(to pages: ConsolePages) {
        pages.get("catalog-history") { request, context in
            let app = try ProductAddress.app(of: request, catalog.apps) ?? catalog.apps.first
            return try await history(of: nil, in: app, request) {
                ConsolePath("catalog-history", query: ["app": catalog.apps.parameter(of: app), "cursor": $0])
            }
        }
        pages.get("products/:product/history") { request, context in
            let address = try ProductAddress(request, context, of: catalog.apps)
            return try await history(of: address.productIdentifier, in: address.app, request) {
                address.path("history", cursor: $0)
            }
        }
        pages.get("products/:product/history/:number") { request, context in
            try await change(request, context)
        }
        pages.post("products/:product/history/:number/undo", .catalog) { request, context in
            try await undo(request, context)
        }
    }

    /// The history of a product, or of an app's whole catalog.
    ///
    /// - Parameter productIdentifier: The only product; nil for all.
    private func history(
        of productIdentifier: String?, in app: App, _ request: Request, path: (String) -> ConsolePath
    ) async throws -> Page {
        let (shown, next) = try await RequestedPage(request).list(at: \.change.number) {
            try await catalog.history(.of(product: productIdentifier), in: app, before: $0, limit: $1)
        }
        let keys = try await entitlements.ledger.apiKeyNames()
        let names = CatalogNames(catalogs: entitlements.catalogs)
        let title: Phrase = productIdentifier.map { "History of \(names.product($0))" } ?? "History of the catalog"
        return Page(title, section: .products) {
            if let productIdentifier {
                let address = ProductAddress(productIdentifier, in: app, of: catalog.apps)
                p(.class("actions")) { a(.class("button"), .href(address.path())) { "The product" } }
            }
            if let name = catalog.apps.parameter(of: app) { p { Shown.identifier(name) } }
            if shown.isEmpty {
                emptyNote("No changes. The products are as the files define them.")
            } else {
                ol(.class("timeline")) {
                    for revision in shown {
                        let change = revision.change
                        let address = ProductAddress(change.subject.identifier, in: app, of: catalog.apps)
                        li {
                            p {
                                strong { Phrase(change.content.kind.title) }
                                if productIdentifier == nil {
                                    also(a(.href(address.path())) { data(change.subject.identifier) }, by: " · ")
                                }
                                plain(" · ")
                                spaced(
                                    by: " · ", Shown.moment(change.happenedAt),
                                    ActorWords.html(caller: change.changedBy, keys),
                                    a(.href(address.path("history", String(change.number)))) {
                                        "Change \(change.number)"
                                    })
                            }
                            Self.detail(of: revision)
                        }
                    }
                }
            }
            Listing.pager(next.map(path))
        }
    }

    func revision(
        _ request: Request, _ context: ConsoleContext
    ) async throws -> (ProductAddress, CatalogRevision) {
        let address = try ProductAddress(request, context, of: catalog.apps)
        let number = Int64(try context.parameters.text("number")) ?? 0
        let subject = CatalogSubject.product(address.productIdentifier)
        return (address, try await catalog.revision(number, of: subject, in: address.app))
    }

    private func undo(_ request: Request, _ context: ConsoleContext) async throws -> ConsolePath {
        let (address, revision) = try await revision(request, context)
        let caller = try context.caller
        guard revision.isUndoable else { throw CatalogChangeError.changeNotUndoable }
        let version = try context.form.text(ProductForm.version)
        let present = ProductForm.tag(of: address.app.catalog.definition(of: address.productIdentifier))
        guard present.utf8.elementsEqual(version.utf8) else {
            throw Problem(
                status: .preconditionFailed, code: "productChanged",
                detail: "The product has changed since the page was shown. Reload the page, then undo.")
        }
        for _ in 0..<CatalogService.undoSteps {
            try await catalog.make { try await catalog.undo(revision, in: address.app, by: caller) }
        }
        return address.path("history", done: .restored)
    }

    func change(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let (address, revision) = try await revision(request, context)
        let keys = try await entitlements.ledger.apiKeyNames()
        let change = revision.change
        return Page("Change \(change.number)", section: .products) {
            section(.class("card")) {
                Facts.list {
                    fact("Product") { a(.href(address.path())) { data(change.subject.identifier) } }
                    fact("Change") { Phrase(change.content.kind.title) }
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
                            hidden(ProductForm.version, ProductForm.tag(of: definition))
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
