import Catalog
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Routes for the administration of the catalog: define, withdraw and picture products, and list the changes.
struct CatalogRoutes: Sendable {
    let catalog: CatalogService
    let catalogs: CatalogViews

    /// The largest body with a definition, in bytes.
    private static let maximumBody = 48 * 1024
    /// The size of a form around a picture, in bytes.
    private static let multipartOverhead = 16 * 1024

    /// - Parameter group: Routes under `/v1`.
    func add(to group: RouterGroup<ServiceContext>) {
        let group = group.for(.backEnd(.catalog), isPerApp: true).group("catalog")
        group.get("products") { request, context in try products(request, in: try catalogs.app(of: request, context)) }
        group.get("products/:product") { request, context in
            try product(try context.parameters.text("product"), in: try catalogs.app(of: request, context))
        }
        group.put("products/:product") { request, context in
            let (identifier, key) = (try context.parameters.text("product"), try context.requiredCaller.name)
            let app = try catalogs.app(of: request, context)
            let expected = request.headers[values: .ifMatch]
            let object = try await JSONBody(
                request, context, fields: nil, upTo: Self.maximumBody
            ).object
            let isNew = try await change(identifier, in: app, matching: expected) {
                try await catalog.define(
                    object, as: identifier, in: app, seeing: catalogs.limit(of: context), by: key)
            }
            return try product(identifier, in: app, status: isNew ? .created : .ok)
        }
        group.delete("products/:product") { request, context in
            let (identifier, key) = (try context.parameters.text("product"), try context.requiredCaller.name)
            let app = try catalogs.app(of: request, context)
            _ = try await change(identifier, in: app, matching: request.headers[values: .ifMatch]) {
                try await catalog.revert(identifier, in: app, by: key)
            }
            return HTTPResponse.Status.noContent
        }
        group.put("products/:product/withdrawal") { request, context in
            try await setWithdrawn(true, request, context)
        }
        group.delete("products/:product/withdrawal") { request, context in
            try await setWithdrawn(false, request, context)
        }
        group.put("products/:product/picture") { request, context in try await setPicture(request, context) }
        group.get("changes") { request, context in
            try await changes(
                request, try filter(request), in: try catalogs.app(of: request, context))
        }
    }

    /// Compares a product with the client's entity tags (RFC 9110 section 13.1.1).
    ///
    /// - Parameter expected: Entity tags; empty if the request has no `If-Match`.
    /// - Throws: `Problem`, `productChanged`.
    private func check(_ expected: [String], of identifier: String, in app: App) throws {
        guard !expected.isEmpty else { return }
        let product = CatalogResource.product(identifier, in: catalogs.view(of: app)).map { JSONAnswer.encode($0) }
        guard EntityTags(expected).match(product) else {
            throw Problem(
                status: .preconditionFailed, code: "productChanged",
                detail: "The product has changed since its ETag was read. Read the product again, then change it.")
        }
    }

    private func setWithdrawn(
        _ isWithdrawn: Bool,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> Response {
        let (identifier, key) = (try context.parameters.text("product"), try context.requiredCaller.name)
        let app = try catalogs.app(of: request, context)
        _ = try await change(identifier, in: app) {
            try catalog.setWithdrawn(isWithdrawn, identifier, in: app, by: key)
        }
        return try product(identifier, in: app)
    }

    private func setPicture(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (identifier, key) = (try context.parameters.text("product"), try context.requiredCaller.name)
        let app = try catalogs.app(of: request, context)
        let form = try await MultipartForm(
            request, context, upTo: Picture.maximumSize + Self.multipartOverhead)
        guard form.parts.count == 1, let part = form.parts.first, part.name == "picture" else {
            throw Problem(
                status: .badRequest, code: "formInvalid", detail: "The form must have exactly one field, named picture."
            )
        }
        let picture = try await BlockingWork.process(part.bytes.count) {
            do throws(CatalogError) { return try Picture(bytes: part.bytes, file: "The picture") } catch {
                throw CatalogChangeError.pictureInvalid(error)
            }
        }
        // A part without a media type, or with `application/octet-stream`, may be of any format.
        if let said = part.mediaType, said != "application/octet-stream", said != picture.format.mediaType {
            throw CatalogChangeError.pictureInvalid(
                CatalogError(
                    file: "The picture",
                    reason: "its Content-Type is \(said), but its bytes are \(picture.format.mediaType)"))
        }
        _ = try await change(identifier, in: app) {
            try catalog.setPicture(
                picture, of: identifier, in: app, seeing: catalogs.limit(of: context), by: key)
        }
        return try product(identifier, in: app)
    }

    /// Makes a change to the current catalog, and retries it if another writer has changed the catalog meanwhile.
    ///
    /// - Parameter expected: Entity tags that the client has seen; empty if the request has no `If-Match`.
    /// - Returns: True if the product is new.
    private func change(
        _ identifier: String,
        in app: App,
        matching expected: [String] = [],
        _ make: () async throws -> CatalogService.Pending?
    ) async throws -> Bool {
        let outcome = try await catalog.perform {
            try check(expected, of: identifier, in: app)
            let pending = try await make()
            // The catalog may have changed since the first check. The change fits this catalog, or is outdated by a later one.
            try check(expected, of: identifier, in: app)
            return pending
        }
        guard let outcome else { throw Problem.tooBusy }
        return outcome == .created
    }

    private func product(
        _ identifier: String,
        in app: App,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        guard let product = CatalogResource.product(identifier, in: catalogs.view(of: app)) else {
            throw CatalogChangeError.productNotFound
        }
        let bytes = JSONAnswer.encode(product)
        return JSONAnswer.response(
            bytes: bytes, status: status,
            headers: [.eTag: CacheableAnswer.tag(of: bytes), .cacheControl: "no-cache"])
    }

    private func products(_ request: Request, in app: App) throws -> Response {
        let (page, view) = (try Page(request), catalogs.view(of: app))
        var identifiers = view.catalog.products.map(\.productIdentifier)[...]
        if let last = page.last {
            guard let index = identifiers.firstIndex(where: { $0.hasSameBytes(as: last) }) else {
                throw Problem.cursorInvalid
            }
            identifiers = identifiers[(index + 1)...]
        }
        let (shown, next) = page.part(of: identifiers) { $0 }
        return JSONAnswer.response(
            bytes: JSONAnswer.encode(
                CatalogResource.page(
                    "products", shown.compactMap { CatalogResource.product($0, in: view) }, next: next)))
    }

    /// The changes that a request asks for.
    private func filter(_ request: Request) throws(Problem) -> CatalogChangeFilter {
        if let product = try request.query("product") { return .only(.product(product)) }
        if let right = try request.query("right") { return .only(.right(right)) }
        return try request.query("offering").map { .only(.offering($0)) } ?? .all
    }

    private func changes(
        _ request: Request,
        _ filter: CatalogChangeFilter,
        in app: App
    ) async throws -> Response {
        let page = try Page(request)
        let before = try page.before()
        let found = try await catalog.changes(filter, in: app, before: before, limit: page.size + 1)
        let (shown, next) = page.part(of: found) { String($0.number) }
        let keys = try await catalog.ledger.apiKeyNames()
        return JSONAnswer.response(
            bytes: JSONAnswer.encode(
                CatalogResource.page(
                    "changes", shown.map { CatalogResource.change($0, naming: keys) }, next: next)))
    }
}
