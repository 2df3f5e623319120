import Catalog
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Routes for the administration of rights and offerings.
struct CatalogOfferingRoutes: Sendable {
    let catalog: CatalogService
    let catalogs: CatalogViews

    /// The largest body with a definition, in bytes.
    private static let maximumBody = 48 * 1024

    /// - Parameter group: Routes under `/v1`.
    func add(to group: RouterGroup<ServiceContext>) {
        let group = group.for(.backEnd(.catalog), isPerApp: true).group("catalog")
        group.get("rights") { request, context in
            try page(request, context, "rights", \.rights, \.name) { .right($0) }
        }
        add("rights/:name", to: group) { .right($0) }
        group.get("offerings") { request, context in
            try page(request, context, "offerings", \.offerings, \.identifier) { .offering($0) }
        }
        add("offerings/:name", to: group) { .offering($0) }
        group.get("current-offering") { request, context in
            try answer(.currentOffering, in: try catalogs.app(of: request, context))
        }
        group.put("current-offering") { request, context in
            let (app, key) = (try catalogs.app(of: request, context), try context.requiredCaller.name)
            let body = try await JSONBody(request, context, fields: ["identifier"])
            let identifier = try body.text("identifier")
            _ = try await change(.currentOffering, in: app, matching: request) {
                try catalog.setCurrentOffering(identifier, in: app, by: key)
            }
            return try answer(.currentOffering, in: app)
        }
        group.delete("current-offering") { request, context in
            try await revert(.currentOffering, request, context)
        }
    }

    /// Adds the routes of one right or offering.
    private func add(
        _ path: RouterPath,
        to group: RouterGroup<ServiceContext>,
        subject: @escaping @Sendable (String) -> CatalogSubject
    ) {
        group.get(path) { request, context in
            try answer(subject(try context.parameters.text("name")), in: try catalogs.app(of: request, context))
        }
        group.put(path) { request, context in
            let subject = subject(try context.parameters.text("name"))
            let (app, key) = (try catalogs.app(of: request, context), try context.requiredCaller.name)
            let object = try await JSONBody(request, context, fields: nil, upTo: Self.maximumBody).object
            let isNew = try await change(subject, in: app, matching: request) {
                try catalog.define(object, as: subject, in: app, by: key)
            }
            return try answer(subject, in: app, status: isNew ? .created : .ok)
        }
        group.delete(path) { request, context in
            try await revert(subject(try context.parameters.text("name")), request, context)
        }
    }

    private func revert(
        _ subject: CatalogSubject,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> HTTPResponse.Status {
        let (app, key) = (try catalogs.app(of: request, context), try context.requiredCaller.name)
        _ = try await change(subject, in: app, matching: request) {
            try catalog.revert(subject, in: app, by: key)
        }
        return .noContent
    }

    /// Makes a change unless the subject differs from the client's entity tags (`If-Match`).
    ///
    /// - Returns: True if the subject is new.
    private func change(
        _ subject: CatalogSubject,
        in app: App,
        matching request: Request,
        _ make: () throws -> CatalogService.Pending?
    ) async throws -> Bool {
        let expected = EntityTags(request.headers[values: .ifMatch])
        func check() throws {
            let present = CatalogResource.json(of: subject, in: catalogs.view(of: app).catalog)
            guard expected.match(present.map { JSONAnswer.encode($0) }) else { throw Self.changed }
        }
        let outcome = try await catalog.perform {
            try check()
            let pending = try make()
            // The catalog may have changed since the first check. The change fits this catalog, or is outdated by a later one.
            try check()
            return pending
        }
        guard let outcome else { throw Problem.tooBusy }
        return outcome == .created
    }

    private static let changed = Problem(
        status: .preconditionFailed, code: "definitionChanged",
        detail: "The definition has changed since its ETag was read. Read it again, then change it.")

    private func answer(
        _ subject: CatalogSubject,
        in app: App,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        guard let json = CatalogResource.json(of: subject, in: catalogs.view(of: app).catalog) else {
            throw subject.kind == .right ? CatalogChangeError.rightNotFound : .offeringNotFound
        }
        let bytes = JSONAnswer.encode(json)
        return JSONAnswer.response(
            bytes: bytes, status: status,
            headers: [.eTag: CacheableAnswer.tag(of: bytes), .cacheControl: "no-cache"])
    }

    private func page<Element>(
        _ request: Request,
        _ context: ServiceContext,
        _ name: String,
        _ elements: (Catalog) -> [Element],
        _ identifier: (Element) -> String,
        subject: (String) -> CatalogSubject
    ) throws -> Response {
        let (page, catalog) = (try Page(request), try catalogs.view(of: request, context).catalog)
        var identifiers = elements(catalog).map(identifier)[...]
        if let last = page.last {
            guard let index = identifiers.firstIndex(where: { $0.hasSameBytes(as: last) }) else {
                throw Problem.cursorInvalid
            }
            identifiers = identifiers[(index + 1)...]
        }
        let (shown, next) = page.part(of: identifiers) { $0 }
        let resources = shown.compactMap { CatalogResource.json(of: subject($0), in: catalog) }
        return JSONAnswer.response(bytes: JSONAnswer.encode(CatalogResource.page(name, resources, next: next)))
    }
}
