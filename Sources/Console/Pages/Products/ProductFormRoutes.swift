import Catalog
import Features
import HTTPSupport
import Hummingbird
import Proofs

extension ProductChangeRoutes {
    /// The errors of a form.
    private struct Refusal: Error {
        let problems: [FieldProblem]
    }

    /// Adds the forms that create and edit products.
    func addForms(to pages: ConsolePages) {
        pages.get("new-product", .catalog) { request, context in
            let target = try newTarget(request)
            let type = try request.query("type").map { try Self.type($0) } ?? .nonConsumable
            let fields = ProductFields(new: type, locales: target.locales)
            return ProductFormPage(context: context, target: target, fields: fields).page
        }
        pages.post("new-product/preview", .catalog) { request, context in
            try await preview(try newTarget(request), context)
        }
        pages.post("new-product", .catalog) { request, context in try await save(try newTarget(request), context)
        }
        pages.get("products/:product/edit", .catalog) { request, context in
            let address = try ProductAddress(request, context, of: catalog.apps)
            let (target, present) = (ProductFormTarget.existing(address), address.app.catalog)
            guard let product = address.product, let definition = present.definition(of: address.productIdentifier)
            else { throw CatalogChangeError.productNotFound }
            let fields = ProductFields(product, definition, locales: target.locales)
            guard fields.texts.count <= ProductFields.maximumLocalizations else {
                throw Problem(
                    status: .conflict, code: "formTooLarge",
                    detail: "The product has too many languages for the form. Change it over the API.")
            }
            return ProductFormPage(context: context, target: target, fields: fields).page
        }
        pages.post("products/:product/preview", .catalog) { request, context in
            try await preview(.existing(try ProductAddress(request, context, of: catalog.apps)), context)
        }
        pages.post("products/:product/definition", .catalog) { request, context in
            try await save(.existing(try ProductAddress(request, context, of: catalog.apps)), context)
        }
    }

    private func newTarget(_ request: Request) throws(Problem) -> ProductFormTarget {
        let app = try ProductAddress.app(of: request, catalog.apps) ?? catalog.apps.first
        return .new(app, appParameter: catalog.apps.all.count == 1 ? nil : app.bundleIdentifier)
    }

    private static func type(_ text: String) throws(Problem) -> ProductType {
        guard let type = ProductType(rawValue: text) else {
            throw ConsoleForm.invalid(ProductKey.type.rawValue, "the type of a product")
        }
        return type
    }

    /// The fields that the browser sent. An existing product keeps its type and identifier.
    private func fields(_ target: ProductFormTarget, _ form: ConsoleForm) throws -> ProductFields {
        switch target {
        case .new:
            try ProductFields(
                form, type: try Self.type(try form.text(ProductKey.type.rawValue)),
                productIdentifier: try form.text(ProductFields.identifier))
        case .existing(let address):
            if let product = address.product {
                try ProductFields(form, type: product.type, productIdentifier: product.productIdentifier)
            } else {
                throw CatalogChangeError.productNotFound
            }
        }
    }

    private func preview(_ target: ProductFormTarget, _ context: ConsoleContext) async throws -> Page {
        let fields = try fields(target, context.form)
        let present = target.app.catalog
        let base = target.isNew ? nil : present.definition(of: fields.productIdentifier)
        let result: ProductPreview.Result
        do {
            let (draft, pending) = try await prepare(fields, target, by: try context.caller)
            let definition = try ProductDefinition(
                draft.object, of: fields.productIdentifier, currency: present.storefront.currency)
            var changed = present
            try changed.define(definition)
            result = pending == nil ? .unchanged(definition, in: changed) : .changed(definition, in: changed)
        } catch let refusal as Refusal {
            result = .problems(refusal.problems)
        }
        return ProductFormPage(
            context: context, target: target, fields: fields, preview: ProductPreview(result: result, base: base)
        ).page
    }

    private func save(_ target: ProductFormTarget, _ context: ConsoleContext) async throws -> Response {
        let fields = try fields(target, context.form)
        let caller = try context.caller
        do {
            let outcome = try await catalog.make { try await prepare(fields, target, by: caller).pending }
            let address = ProductAddress(fields.productIdentifier, in: target.app, of: catalog.apps)
            return .seeOther(address.path(done: outcome == .created ? .created : .saved))
        } catch let refusal as Refusal {
            return ProductFormPage(context: context, target: target, fields: fields, problems: refusal.problems)
                .page.response(context, status: .unprocessableContent)
        }
    }

    /// Makes the definition of a form, and checks it against the present catalog.
    ///
    /// - Throws: `Refusal`.
    private func prepare(
        _ fields: ProductFields, _ target: ProductFormTarget, by caller: String
    ) async throws -> (draft: ProductDraft, pending: CatalogService.Pending?) {
        let base = target.app.catalog.definition(of: fields.productIdentifier)
        if target.isNew, base != nil {
            throw Refusal(problems: [
                FieldProblem(
                    field: ProductFields.identifier, title: ProductFormPage.identifierTitle,
                    sentence: "The catalog has this product already.")
            ])
        }
        if !target.isNew, !ProductFields.tag(of: base).utf8.elementsEqual(fields.version.utf8) {
            throw Refusal(problems: [
                FieldProblem(sentence: "Another change came first. Open the form again, and repeat your change.")
            ])
        }
        let draft = ProductDraft(fields, replacing: base)
        guard draft.problems.isEmpty else { throw Refusal(problems: draft.problems) }
        do {
            let pending = try await catalog.define(
                draft.object, as: fields.productIdentifier, in: target.app, by: caller)
            return (draft, pending)
        } catch let error as CatalogChangeError {
            throw Refusal(problems: [draft.problem(error)])
        }
    }
}
