import Catalog
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs
import Vocabulary

/// Routes for the administration of the catalog: define, withdraw and picture products, define rights and offerings, and list the
/// changes.
struct CatalogRoutes: OperationGroup {
    static let tag = APIOperation.catalogAdministration
    static let optional = [OptionalOperations(option: "--catalog-administration", operations: operations)]
    let parts: ServiceParts
    private let catalog: CatalogService

    init?(parts: ServiceParts) {
        guard let catalog = parts.till.administration else { return nil }
        (self.parts, self.catalog) = (parts, catalog)
    }

    /// The largest body with a definition, in bytes.
    private static let maximumBody = 48 * 1024
    /// The size of a form around a picture, in bytes.
    private static let multipartOverhead = 16 * 1024

    func add(to group: RouterGroup<ServiceContext>) {
        add(.products, to: group, \.products, \.productIdentifier) { .product($0) }
        add(.rights, to: group, \.rights, \.name) { .right($0) }
        add(.offerings, to: group, \.offerings, \.identifier) { .offering($0) }
        group.on(.getCurrentOffering) { request, context in
            try answer(.currentOffering, in: try catalogs.app(of: request, context))
        }
        group.on(.setCurrentOffering) { request, context in
            let app = try catalogs.app(of: request, context)
            let body = try await JSONBody(request, context, of: .setCurrentOffering)
            let identifier = try body.text("identifier")
            let status = try await change(.currentOffering, in: app, request, context) { key in
                try catalog.setCurrentOffering(identifier, in: app, by: key)
            }
            return try answer(.currentOffering, in: app, status: status)
        }
        group.on(.revertCurrentOffering) { request, context in
            try await revert(.currentOffering, request, context)
        }
        group.on(.withdrawProduct) { request, context in
            try await setWithdrawn(true, request, context)
        }
        group.on(.restoreProduct) { request, context in
            try await setWithdrawn(false, request, context)
        }
        group.on(.setProductPicture) { request, context in try await setPicture(request, context) }
        group.on(.undoCatalogChange) { request, context in try await undo(request, context) }
        group.on(.listCatalogChanges) { request, context in
            try await changes(
                request, try filter(request), in: try catalogs.app(of: request, context))
        }
    }

    private func add<Element>(
        _ operations: CatalogListOperations,
        to group: RouterGroup<ServiceContext>,
        _ elements: @escaping @Sendable (Catalog) -> [Element],
        _ identifier: @escaping @Sendable (Element) -> String,
        subject: @escaping @Sendable (String) -> CatalogSubject
    ) {
        let (name, parameter) = (operations.name, operations.parameter)
        group.on(operations.list) { request, context in
            let (view, page) = (try catalogs.view(of: request, context), try RequestedPage(request))
            let (shown, next) = page.part(of: try page.rest(of: elements(view.catalog).map(identifier)) { $0 }) { $0 }
            let resources = shown.compactMap { CatalogAnswer.json(of: subject($0), in: view) }
            return JSONAnswer.response(bytes: JSONAnswer.encode(CatalogAnswer.page(name, resources, next: next)))
        }
        group.on(operations.get) { request, context in
            try answer(subject(try context.parameters.text(parameter)), in: try catalogs.app(of: request, context))
        }
        group.on(operations.define) { request, context in
            let subject = subject(try context.parameters.text(parameter))
            let app = try catalogs.app(of: request, context)
            let object = try await JSONBody(request, context, fields: nil, upTo: Self.maximumBody).object
            let status = try await change(subject, in: app, request, context) { key in
                try await catalog.define(object, as: subject, in: app, seeing: catalogs.limit(of: context), by: key)
            }
            return try answer(subject, in: app, status: status)
        }
        group.on(operations.revert) { request, context in
            try await revert(subject(try context.parameters.text(parameter)), request, context)
        }
    }

    private func revert(
        _ subject: CatalogSubject,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> HTTPResponse.Status {
        let app = try catalogs.app(of: request, context)
        _ = try await change(subject, in: app, request, context) { try await catalog.revert(subject, in: app, by: $0) }
        return .noContent
    }

    private func undo(_ request: Request, _ context: ServiceContext) async throws -> HTTPResponse.Status {
        let app = try catalogs.app(of: request, context)
        let number = Int64(try context.parameters.text("change")) ?? 0
        let revision = try await catalog.revision(number, in: app)
        guard revision.isUndoable else { throw CatalogChangeError.changeNotUndoable }
        for _ in 0..<CatalogService.undoSteps {
            _ = try await change(revision.change.subject, in: app, request, context, isConditional: false) {
                try await catalog.undo(revision, in: app, seeing: catalogs.limit(of: context), by: $0)
            }
        }
        return .noContent
    }

    private func setWithdrawn(
        _ isWithdrawn: Bool,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> Response {
        let (identifier, app) = (try context.parameters.text("product"), try catalogs.app(of: request, context))
        let status = try await change(.product(identifier), in: app, request, context, isConditional: false) { key in
            try catalog.setWithdrawn(isWithdrawn, identifier, in: app, by: key)
        }
        return try answer(.product(identifier), in: app, status: status)
    }

    private func setPicture(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (identifier, app) = (try context.parameters.text("product"), try catalogs.app(of: request, context))
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
        let status = try await change(.product(identifier), in: app, request, context, isConditional: false) { key in
            try catalog.setPicture(
                picture, of: identifier, in: app, seeing: catalogs.limit(of: context), by: key)
        }
        return try answer(.product(identifier), in: app, status: status)
    }

    /// Makes a change to the current catalog, and retries it if another writer has changed the catalog meanwhile.
    ///
    /// - Parameter isConditional: True to refuse it if the subject differs from the client's entity tags (`If-Match`).
    /// - Returns: The status of the answer: 201 for a new subject.
    private func change(
        _ subject: CatalogSubject,
        in app: App,
        _ request: Request,
        _ context: ServiceContext,
        isConditional: Bool = true,
        _ make: (_ key: String) async throws -> CatalogService.Pending?
    ) async throws -> HTTPResponse.Status {
        let key = try context.requiredCaller.name
        let expected = EntityTags(isConditional ? request.headers[values: .ifMatch] : [])
        func check() throws(Problem) {
            guard
                expected.match({
                    CatalogAnswer.json(of: subject, in: catalogs.view(of: app)).map { JSONAnswer.encode($0) }
                })
            else { throw Self.definitionChanged(subject) }
        }
        let outcome = try await catalog.perform {
            try check()
            let pending = try await make(key)
            // The catalog may have changed since the first check. The change fits this catalog, or is outdated by a later one.
            try check()
            return pending
        }
        guard let outcome else { throw Problem.tooBusy }
        return outcome == .created ? .created : .ok
    }

    private static func definitionChanged(_ subject: CatalogSubject) -> Problem {
        guard subject.kind == .product else {
            return Problem(
                status: .preconditionFailed, code: "definitionChanged",
                detail: "The definition has changed since its ETag was read. Read it again, then change it.")
        }
        return Problem(
            status: .preconditionFailed, code: "productChanged",
            detail: "The product has changed since its ETag was read. Read the product again, then change it.")
    }

    private func answer(
        _ subject: CatalogSubject,
        in app: App,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        guard let json = CatalogAnswer.json(of: subject, in: catalogs.view(of: app)) else {
            throw subject.notFound
        }
        let bytes = JSONAnswer.encode(json)
        return JSONAnswer.response(
            bytes: bytes, status: status,
            headers: [.eTag: CacheableAnswer.tag(of: bytes), .cacheControl: "no-cache"])
    }

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
        let (shown, next) = try await RequestedPage(request).list(at: \.number) {
            try await catalog.changes(filter, in: app, before: $0, limit: $1)
        }
        let keys = try await catalog.ledger.apiKeyNames()
        return JSONAnswer.response(
            bytes: JSONAnswer.encode(
                CatalogAnswer.page(
                    "changes", shown.map { CatalogAnswer.change($0, naming: keys) }, next: next)))
    }
}

/// The entity tags of an `If-Match` (RFC 9110 section 13.1.1).
struct EntityTags {
    private let tags: [String]

    /// - Parameter values: The values of the header fields; empty if the request has none.
    init(_ values: [String]) {
        tags = values.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// True if the tags are those of a representation, or if the request has none.
    ///
    /// - Parameter bytes: Returns the present representation; nil for none.
    func match(_ bytes: () -> [UInt8]?) -> Bool {
        guard !tags.isEmpty else { return true }
        return bytes().map { tags.contains("*") || tags.contains(CacheableAnswer.tag(of: $0)) } ?? false
    }
}

/// The JSON of a product, right, offering or change of the catalog, and of their pages.
///
/// It is written member by member, to keep the order of a definition's members and the digits of its numbers.
enum CatalogAnswer {
    /// - Returns: Nil for a product, right or offering that the catalog does not have.
    static func json(of subject: CatalogSubject, in view: CatalogView) -> JSONValue? {
        let (catalog, identifier) = (view.catalog, subject.identifier)
        switch subject.kind {
        case .product:
            return catalog.definition(of: identifier).map { definition in
                let item = catalog.benefit(of: identifier)?.item
                return .object([
                    "productId": .string(identifier),
                    "isWithdrawn": .bool(catalog.isWithdrawn(identifier)),
                    "isAdministered": .bool(catalog.isAdministered(subject)),
                    "definition": .object(definition),
                    "picture": item.flatMap { view.pictures[$0] }.map { .string($0) },
                ])
            }
        case .right:
            return catalog.right(identifier).map { right in
                .object([
                    "name": .string(right.name), "isAdministered": .bool(catalog.isAdministered(subject)),
                    "definition": .object(right.definition),
                ])
            }
        case .offering:
            return catalog.offering(identifier).map { offering in
                .object([
                    "identifier": .string(offering.identifier),
                    "isCurrent": .bool(catalog.isCurrent(offering)),
                    "isAdministered": .bool(catalog.isAdministered(subject)),
                    "definition": .object(offering.definition),
                ])
            }
        case .currentOffering:
            return .object([
                "isAdministered": .bool(catalog.isAdministered(subject)),
                "identifier": (catalog.currentOffering?.identifier).map { .string($0) },
            ])
        }
    }

    /// - Parameter keys: The names of API keys by their identifiers.
    static func change(_ change: CatalogChange, naming keys: [String: String]) -> JSONValue {
        var object: JSONObject = [
            "number": .integer(change.number), "happenedAt": .string(change.happenedAt.rfc3339),
            "changedBy": .string(change.changedBy),
        ]
        if let name = keys[change.changedBy] { _ = object.add("changedByName", .string(name)) }
        _ = object.add("kind", .string(change.content.kind.rawValue))
        switch change.subject.kind {
        case .product: _ = object.add("productId", .string(change.subject.identifier))
        case .right: _ = object.add("right", .string(change.subject.identifier))
        case .offering: _ = object.add("offering", .string(change.subject.identifier))
        case .currentOffering: _ = object.add("isOfCurrentOffering", .bool(true))
        }
        switch change.content {
        case .definition(let text):
            // The ledger stores only definitions that parsed.
            if let definition = try? JSONParser.parse(Array(text.utf8)) { _ = object.add("definition", definition) }
        case .picture(let item, let digest):
            _ = object.add("item", item.json)
            _ = object.add("sha256", .string(digest.hexadecimal))
        case .reversion, .withdrawal, .restoration: break
        }
        return .object(object)
    }

    /// - Parameter next: The `cursor` of the next page; nil on the last page.
    static func page(_ name: String, _ elements: [JSONValue], next: String?) -> JSONValue {
        var object = JSONObject()
        _ = object.add(name, .array(elements))
        if let next { _ = object.add("nextCursor", .string(next)) }
        return .object(object)
    }
}

extension CatalogService {
    /// The task that refreshes the catalog within two seconds after another process has changed it.
    package func watch(logger: Logger) -> Companion {
        let work = RepeatedWork(
            "catalog not refreshed", Rhythm(every: .seconds(2), beginsAtOnce: false), logger: logger,
            // Products are not secret, and the operator must know which one to correct.
            cause: { error in
                (error as? CatalogError).map { FailureCause(key: "reason", text: $0.message) } ?? FailureCause(error)
            })
        return work.companion {
            try await self.refresh()
            return true
        }
    }
}

/// The operations of a list of the catalog, and of each of its elements.
struct CatalogListOperations {
    /// The field with the elements.
    let name: String
    /// The path parameter that names an element.
    let parameter: String
    let list: APIOperation
    let get: APIOperation
    let define: APIOperation
    let revert: APIOperation

    /// - Parameters:
    ///   - name: The name of the list, and the last part of its path.
    ///   - element: The word for an element, with its article.
    private init(
        _ name: String,
        of element: (article: String, noun: String),
        _ parameter: String,
        _ parameters: [Parameter] = [],
        extent: String = "",
        _ schema: Schema,
        definition: Schema
    ) {
        let (article, noun) = element
        let (identifier, path) = (noun.prefix(1).uppercased() + noun.dropFirst(), "\(name)/{\(parameter)}")
        self.name = name
        self.parameter = parameter
        list = .catalog(
            .get, name, "listCatalog\(identifier)s", "Lists the definitions of all \(name)\(extent)",
            answers: [.page("A page of \(name).", name, of: schema)])
        get = .catalog(
            .get, path, "getCatalog\(identifier)", "Returns \(article) \(noun)'s definition", parameters: parameters,
            answers: [.json("The \(noun).", schema).with(.entityTag)])
        define = .catalog(
            .put, path, "define\(identifier)", "Creates or replaces \(article) \(noun)",
            parameters: parameters + [.ifMatch(noun)], body: .json(definition),
            answers: [.json("The replaced \(noun).", schema), .json("The new \(noun).", schema, status: 201)])
        revert = .catalog(
            .delete, path, "revert\(identifier)",
            "Restores the file's definition, or removes the \(noun) if the files have none",
            parameters: parameters + [.ifMatch(noun)],
            answers: [.empty("The file's definition is restored, or the \(noun) is removed.")])
    }

    static let products = CatalogListOperations(
        "products", of: ("a", "product"), "product", extent: ", including withdrawn ones", .catalogProduct,
        definition: .productDefinition)
    static let rights = CatalogListOperations(
        "rights", of: ("a", "right"), "name", [.path("name", "The name of the right.")], .catalogRight,
        definition: .rightDefinition)
    static let offerings = CatalogListOperations(
        "offerings", of: ("an", "offering"), "name", [.path("name", "The identifier of the offering.")],
        .catalogOffering, definition: .offeringDefinition)
}

extension APIOperation {
    static let catalogAdministration = OperationTag(
        "Catalog administration", "Changes to products, rights, offerings and pictures.",
        [CatalogListOperations.products, .rights, .offerings].flatMap { [$0.list, $0.get, $0.define, $0.revert] } + [
            withdrawProduct, restoreProduct, setProductPicture, getCurrentOffering, setCurrentOffering,
            revertCurrentOffering, listCatalogChanges, undoCatalogChange,
        ])

    static let withdrawProduct = catalog(
        .put, "products/{product}/withdrawal", "withdrawProduct", "Withdraws a product from sale. Its owners keep it",
        answers: [.json("The product after the change.", .catalogProduct)])

    static let restoreProduct = catalog(
        .delete, "products/{product}/withdrawal", "restoreProduct", "Puts a withdrawn product on sale again",
        answers: [.json("The product after the change.", .catalogProduct)])

    static let setProductPicture = catalog(
        .put, "products/{product}/picture", "setProductPicture", "Sets the picture of a product's item",
        body: .multipart([
            "picture": .binary.described("An SVG, a PNG or a JPEG of up to 256 KB and 4096 × 4096 pixels.")
        ]),
        answers: [.json("The product after the change.", .catalogProduct)],
        or: [.conflict, .refused])

    static let getCurrentOffering = catalog(
        .get, "current-offering", "getCurrentOffering", "Returns the current offering",
        answers: [.json("The current offering.", .currentOffering).with(.entityTag)])

    static let setCurrentOffering = catalog(
        .put, "current-offering", "setCurrentOffering", "Makes an offering the current one",
        parameters: [.ifMatch("current offering")],
        body: .json(["identifier": .text()]),
        answers: [.json("The current offering.", .currentOffering)])

    static let revertCurrentOffering = catalog(
        .delete, "current-offering", "revertCurrentOffering", "Restores the file's current offering",
        parameters: [.ifMatch("current offering")],
        answers: [.empty("The file's current offering is restored.")])

    static let listCatalogChanges = catalog(
        .get, "changes", "listCatalogChanges", "Lists the changes of the catalog, newest first",
        parameters: [
            .query("product", "Only changes of one product."), .query("right", "Only changes of one right."),
            .query("offering", "Only changes of one offering."),
        ],
        answers: [.page("A page of changes.", "changes", of: .catalogChange)])

    static let undoCatalogChange = catalog(
        .post, "changes/{change}/undo", "undoCatalogChange",
        "Returns a product, a right or an offering to its state before a change, also before later ones",
        parameters: [.path("change", "The number of the change.", example: "12")],
        answers: [.empty("It is as before the change.")],
        or: [.conflict, .refused])

    fileprivate static func catalog(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ name: String,
        _ summary: String,
        parameters: [Parameter] = [],
        body: HTTPSupport.RequestBody? = nil,
        answers: [Answer],
        or others: Set<SharedAnswer> = []
    ) -> APIOperation {
        APIOperation(
            method, "/v1/catalog/" + path, for: .backEnd(.catalog), isPerApp: true, name, summary,
            parameters: parameters + [.app], body: body, answers: answers, or: others)
    }
}

extension Schema {
    static let productDefinition = Schema.object(
        "An entry of a `.storekit` file combined with one of `Items.json`. Unknown keys are kept.",
        named: "ProductDefinition"
    ).fields([
        "type": .one(of: ["Consumable", "NonConsumable", "NonRenewingSubscription", "RecurringSubscription"])
            .example("NonConsumable"),
        "displayPrice": .text("The price in the storefront's currency.").with([
            "pattern": "^[0-9]{1,9}(\\.[0-9]{1,3})?$"
        ]),
        "referenceName": .text().optional,
        "familyShareable": .flag().optional,
        "localizations": .array(
            of: .object().fields([
                "locale": .text(length: 1 ... .max),
                "displayName": .text().optional,
                "description": .text().optional,
            ])
        ).optional,
        "collection": .text("The granted item's collection, for all products but consumables.", length: 1 ... .max)
            .example("sprout").optional,
        "number": .integer(in: 0 ... .max).example(.integer(1)).optional,
        "duration": .text("The period of a non-renewing subscription, such as P1M.").optional,
        "rentalPeriod": .text("The period for which Google Play rents a non-consumable, such as P2D.").optional,
        "balance": .text("The balance that a consumable adds to.").with(["pattern": "^[A-Za-z0-9_-]{1,64}$"])
            .optional,
        "amount": .integer(in: 1...1000000000).optional,
        "subscriptionGroupID": .text(
            "The subscription group of an auto-renewable subscription.", length: 1 ... .max
        ).optional,
        "subscriptionGroupName": .text().optional,
        "groupNumber": .integer(in: 0 ... .max).optional,
        "recurringSubscriptionPeriod": .text().optional,
    ])

    static let catalogProduct = Schema.object("A product with its administration state.", named: "CatalogProduct")
        .fields([
            "productId": .text(),
            "isWithdrawn": .flag("True if the product is withdrawn from sale."),
            "isAdministered": .flag("True if the definition differs from the files."),
            "definition": .anyObject.described("The definition, to change and send back."),
            "picture": .text("The address of the item's picture.").optional,
        ]).closed

    static let catalogChange = Schema.object(
        "A change of a product, a right, an offering or the current offering.", named: "CatalogChange"
    ).fields([
        "number": .integer(in: 1 ... .max),
        "happenedAt": .time(),
        "changedBy": .text("The API key's identifier."),
        "changedByName": .text("The name of the API key; absent if the service does not have the key.").optional,
        "kind": .one(of: CatalogChange.Kind.self),
        "productId": .text("The product; absent for a change of something else.").optional,
        "right": .text("The name of the right; absent for a change of something else.").optional,
        "offering": .text("The identifier of the offering; absent for a change of something else.").optional,
        "isOfCurrentOffering": .flag("True for a change of the current offering, which the definition names.")
            .optional,
        "definition": .anyObject.described("The definition as it was sent.").optional,
        "item": Item.schema.optional,
        "sha256": .text("The SHA-256 of the picture.").optional,
    ]).closed

    static let offeringDefinition = Schema.object(
        "An offering in the form of `Offerings.json`.", named: "OfferingDefinition"
    ).fields([
        "identifier": .text("The identifier of the path, or left out.").optional,
        "description": .text("Up to 1024 bytes."),
        "metadata": .anyObject.described("Values for the app, of up to 4096 bytes.").optional,
        "packages": .array(
            of: .object().fields([
                "identifier": .text(),
                "productID": .text(),
                "googlePlay": .object("The product at Google Play, if it is another one or has a base plan.").fields([
                    "productID": .text("The product of the package, if left out.").optional,
                    "basePlanID": .text("The base plan of the subscription.").optional,
                ]).closed.optional,
            ]).closed, count: 0...100),
    ]).closed

    static let catalogOffering = Schema.object("An offering with its definition.", named: "CatalogOffering").fields([
        "identifier": .text(),
        "isCurrent": .flag("True if apps show it unless they ask for another."),
        "isAdministered": .flag("True if the definition differs from the file."),
        "definition": .anyObject.described("The definition, to change and send back."),
    ]).closed

    static let currentOffering = Schema.object(
        "The offering that apps show unless they ask for another.", named: "CurrentOffering"
    ).fields([
        "identifier": .text("Absent if there is none.").optional,
        "isAdministered": .flag("True if it differs from the file."),
    ]).closed

    static let rightDefinition = Schema.object(
        "A right in the form of `Offerings.json`. It has `products`, `items` or both.", named: "RightDefinition"
    ).fields([
        "name": .text("The name of the path, or left out.").optional,
        "description": .text("Up to 1024 bytes.").optional,
        "products": .array(of: .text().example("com.memolease.sesac1.sprout1"), count: 0...1000).optional,
        "items": .array(of: Item.schema, count: 0...1000).optional,
    ]).closed

    static let catalogRight = Schema.object("A right with its definition.", named: "CatalogRight").fields([
        "name": .text().example("premium"),
        "isAdministered": .flag("True if the definition differs from the file."),
        "definition": .anyObject.described("The definition, to change and send back."),
    ]).closed
}
