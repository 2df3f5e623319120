import Catalog
import Entitlements
import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The forms that create and edit products, each with its preview.
extension ProductChangeRoutes {
    private struct Refusal: Error {
        let problems: [FieldProblem]
    }

    private static let previewIdentifier = "preview"

    func addForms(to pages: ConsolePages) {
        pages.get("new-product", .catalog) { request, context in
            let address = try newAddress(request)
            let type = try request.query("type").map { try Self.type($0) } ?? .nonConsumable
            return page(of: ProductForm(new: type, at: address), context)
        }
        pages.get("products/:product/edit", .catalog) { request, context in
            let address = try ProductAddress(request, context, of: catalog.apps)
            guard let product = address.product,
                let definition = address.app.catalog.definition(of: address.productIdentifier)
            else { throw CatalogChangeError.productNotFound }
            let form = ProductForm(product, definition, at: address)
            guard form.texts.count <= ProductForm.maximumLocalizations else {
                throw Problem(
                    status: .conflict, code: "formTooLarge",
                    detail: "The product has too many languages for the form. Change it over the API.")
            }
            return page(of: form, context)
        }
        for path: RouterPath in ["new-product/preview", "products/:product/preview"] {
            pages.post(path, .catalog) { request, context in try await preview(request, context) }
        }
        for path: RouterPath in ["new-product", "products/:product/definition"] {
            pages.post(path, .catalog) { request, context in try await save(request, context) }
        }
    }

    /// The address of a product without an identifier, in the app that the request names or in the first one.
    private func newAddress(_ request: Request) throws(Problem) -> ProductAddress {
        ProductAddress(
            "", in: try ProductAddress.app(of: request, catalog.apps) ?? catalog.apps.first, of: catalog.apps)
    }

    private static func type(_ text: String) throws(Problem) -> ProductType {
        guard let type = ProductType(rawValue: text) else {
            throw ConsoleForm.invalid(ProductKey.type.rawValue, "the type of a product")
        }
        return type
    }

    /// The form that the browser sent. The product of the path keeps its type and identifier.
    private func sent(_ request: Request, _ context: ConsoleContext) throws -> ProductForm {
        let form = context.form
        guard context.parameters.get("product") == nil else {
            let address = try ProductAddress(request, context, of: catalog.apps)
            guard let product = address.product else { throw CatalogChangeError.productNotFound }
            return try ProductForm(form, type: product.type, at: address, isNew: false)
        }
        let app = try newAddress(request).app
        let type = try Self.type(try form.text(ProductKey.type.rawValue))
        let address = ProductAddress(try form.text(ProductForm.identifier), in: app, of: catalog.apps)
        return try ProductForm(form, type: type, at: address, isNew: true)
    }

    private func preview(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let form = try sent(request, context)
        let (identifier, present) = (form.address.productIdentifier, form.address.app.catalog)
        let base = form.isNew ? nil : present.definition(of: identifier)
        let preview: HTML
        do {
            let (draft, pending) = try await prepare(form, by: try context.caller)
            let definition = try ProductDefinition(
                draft.object, of: identifier, currency: present.storefront.currency)
            var changed = present
            try changed.define(definition)
            preview = HTML {
                p {
                    if pending == nil {
                        Shown.badge("No change")
                    } else {
                        base == nil ? Shown.badge("New product", .good) : Shown.badge("Changed", .warning)
                    }
                }
                Self.preview(of: definition.product, in: changed)
                if pending != nil {
                    h3 { "Change of the definition" }
                    DefinitionDiff(before: base, after: definition.object).html
                }
            }
        } catch let refusal as Refusal {
            preview = HTML { FieldProblem.list(refusal.problems, id: "preview-problem") }
        }
        return page(of: form, context, preview: preview)
    }

    private func save(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        let (form, caller) = (try sent(request, context), try context.caller)
        do {
            let outcome = try await catalog.make { try await prepare(form, by: caller).pending }
            return .seeOther(form.address.path(done: outcome == .created ? .created : .saved))
        } catch let refusal as Refusal {
            return page(of: form, context, problems: refusal.problems)
                .response(context, status: .unprocessableContent)
        }
    }

    /// Makes the definition of a form, and checks it against the present catalog.
    ///
    /// - Throws: `Refusal`.
    private func prepare(
        _ form: ProductForm, by caller: String
    ) async throws -> (draft: ProductDraft, pending: CatalogService.Pending?) {
        let (identifier, app) = (form.address.productIdentifier, form.address.app)
        let base = app.catalog.definition(of: identifier)
        if form.isNew, base != nil {
            throw Refusal(problems: [.identifier("The catalog has this product already.")])
        }
        if !form.isNew, !ProductForm.tag(of: base).utf8.elementsEqual(form.version.utf8) {
            throw Refusal(problems: [
                FieldProblem(sentence: "Another change came first. Open the form again, and repeat your change.")
            ])
        }
        let draft = ProductDraft(form, replacing: base)
        guard draft.problems.isEmpty else { throw Refusal(problems: draft.problems) }
        do {
            return (draft, try await catalog.define(draft.object, as: identifier, in: app, by: caller))
        } catch let error as CatalogChangeError {
            throw Refusal(problems: [draft.problem(error)])
        }
    }

    /// - Parameters:
    ///   - problems: The errors of the form that was sent.
    ///   - preview: The errors of the form, or the product as it would be. Nil before the first preview.
    private func page(
        of form: ProductForm, _ context: ConsoleContext, problems: [FieldProblem] = [], preview: HTML? = nil
    ) -> Page {
        let address = form.address
        let previewPath = form.isNew ? address.newProduct("preview") : address.path("preview")
        let name = CatalogNames(catalogs: entitlements.catalogs).product(address.productIdentifier)
        return Page(form.isNew ? "New product" : "Edit \(CustomerWords.isolated(name))", section: .products) {
            if form.isNew {
                // Each type has a form of its own.
                Tabs.choices("Type", ProductType.allCases, present: form.type, title: \.title) {
                    address.newProduct(type: $0)
                }
            }
            context.form(
                to: form.isNew ? address.newProduct() : address.path("definition"),
                HTMLAttribute("data-live", Self.previewIdentifier), HTMLAttribute("data-live-action", previewPath.text),
                HTMLAttribute("data-stay")
            ) {
                FieldProblem.list(problems, id: "problem")
                hidden(ProductForm.version, form.version)
                hidden(ProductKey.type.rawValue, form.type.rawValue)
                div(.class("columns")) {
                    card(form.type.title) { Self.general(form) }
                    card("Texts") {
                        note(
                            "A new language without texts is left out. Empty the language of a row to remove it with its texts."
                        )
                        for (index, texts) in form.texts.enumerated() {
                            fieldset {
                                legend { form.titleOfTexts(index) }
                                Field.text("locale-\(index)", "Language, such as ko or en_US", value: texts.locale)
                                Field.text(
                                    "displayName-\(index)", "Name", value: texts.displayName, maximumLength: 1000)
                                Field.area(
                                    "description-\(index)", "Description", value: texts.description, rows: 2)
                            }
                        }
                    }
                }
                card("Advanced") {
                    Field.area(
                        ProductForm.others, ProductForm.othersTitle, value: form.others, rows: 8,
                        note:
                            "The other keys of a .storekit file, such as introductoryOffers, adHocOffers, codeOffers and winbackOffers."
                    )
                }
                p(.class("actions")) {
                    button(.class("primary")) { "Save" }
                    button(HTMLAttribute("formaction", previewPath.text), HTMLAttribute("formnovalidate")) {
                        "Preview"
                    }
                    a(.class("button"), .href(form.isNew ? ConsolePath("products") : address.path())) { "Cancel" }
                }
            }
            section(.id(Self.previewIdentifier), .class("card")) {
                h2 { "Preview" }
                preview ?? emptyNote("Nothing is saved before you save.")
            }
        }
    }

    @HTMLBuilder private static func general(_ form: ProductForm) -> HTML {
        let address = form.address
        if form.isNew {
            Field.text(
                ProductForm.identifier, ProductForm.identifierTitle, value: address.productIdentifier,
                isRequired: true,
                note: "As in App Store Connect, such as com.example.coins100. It cannot be changed later.")
            if let app = address.appParameter { Facts.list { fact("App") { Shown.identifier(app) } } }
        } else {
            Facts.list { fact(ProductForm.identifierTitle) { Shown.identifier(address.productIdentifier) } }
        }
        for key in ProductKey.keys(of: form.type) {
            switch key {
            case .type, .localizations: HTML()
            case .familyShareable: Field.checkbox(key.rawValue, key.title, isChecked: form.isFamilyShareable)
            default:
                Field.text(
                    key.rawValue, key.title, value: form.values[key] ?? "",
                    inputMode: key.isNumber ? "numeric" : key == .displayPrice ? "decimal" : nil, note: key.note)
            }
        }
        note("The price is in \(address.app.catalog.storefront.currency), the currency of the storefront.")
    }

    /// A product as it would be in a catalog.
    @HTMLBuilder private static func preview(of product: Product, in catalog: Catalog) -> HTML {
        div(.class("cards")) {
            for localization in product.localizations {
                article(.class("card"), HTMLAttribute("lang", localization.locale.replacing("_", with: "-"))) {
                    p(.class("note")) { plain(localization.locale) }
                    h3 { data(localization.displayName) }
                    p { data(localization.description) }
                    p { strong { Shown.money(product.price) } }
                }
            }
        }
        Facts.list {
            fact("Price") { Shown.money(product.price) }
            fact("Grants") { catalog.benefit(of: product.productIdentifier).map(ProductWords.sentence) }
            for offer in product.subscription?.offers ?? [] { fact(offer.kind.title) { ProductWords.terms(of: offer) } }
        }
        details {
            summary { "In App Store Connect" }
            AppStoreConnectChecklist(product: product, storefront: catalog.storefront).table
        }
    }
}
