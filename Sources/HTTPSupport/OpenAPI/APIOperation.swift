import HTTPTypes
import Hummingbird
import Proofs

/// An operation of an API over HTTP: its route, its callers, and what the OpenAPI document says about it.
///
/// The document adds what follows: the path's parameters, the security, the shared answers (`sharedAnswers`), and the headers of
/// answers.
package final class APIOperation: Sendable {
    package let method: HTTPRequest.Method
    /// The whole path, such as `/v1/products/{product}`.
    package let path: String
    /// The callers; nil if the route's group has middleware of its own for them.
    let access: Access?
    /// True if keys for one app may use the route, because it is limited to the app (`AppLimit`).
    let isPerApp: Bool
    /// True if the route also writes if only the reserve of free space is left, or most places for commits are taken: it redeems a
    /// proof, erases, or writes nothing.
    let usesReserve: Bool
    /// True if the route ignores query parameters that it does not know. Probes and other services may send some.
    let ignoresUnknownParameters: Bool
    /// The identifier (`operationId`).
    let name: String
    let summary: String
    let details: String?
    let parameters: [Parameter]
    let body: RequestBody?
    let answers: [Answer]
    /// The shared answers that do not follow from the rest.
    let others: Set<SharedAnswer>
    /// The shared answers that would follow, but that the operation never gives.
    let never: Set<SharedAnswer>

    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        for access: Access?,
        isPerApp: Bool = false,
        usesReserve: Bool = false,
        ignoresUnknownParameters: Bool = false,
        _ name: String,
        _ summary: String,
        details: String? = nil,
        parameters: [Parameter] = [],
        body: RequestBody? = nil,
        answers: [Answer],
        or others: Set<SharedAnswer> = [],
        never: Set<SharedAnswer> = []
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.isPerApp = isPerApp
        self.usesReserve = usesReserve
        self.ignoresUnknownParameters = ignoresUnknownParameters
        self.name = name
        self.summary = summary
        self.details = details
        self.parameters = parameters
        self.body = body
        self.answers = answers
        self.others = others
        self.never = never
    }

    /// The method and path, such as `GET /v1/products/{product}`.
    package var route: String { "\(method.rawValue) \(path)" }

    /// True if the route's group authenticates its callers.
    package var needsCaller: Bool {
        switch access {
        case .backEnd, .app, .backEndOrApp, .publicApp, .backEndOrPublicApp: true
        case .anybody, .identified, nil: false
        }
    }

    package var bodyFields: [String] { body?.schema.fieldNames ?? [] }

    /// The parameters that follow from a parameter of the path: a user may have an issuer.
    static func parameters(besides name: String) -> [Parameter] { name == "user" ? [.issuer] : [] }

    var pathParameters: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    /// The parameters that select a page, if the answer is one.
    var pageParameters: [Parameter] { answers.contains { $0.isPage } ? [.pageSize, .cursor] : [] }

    private var queryNames: [String] {
        (pathParameters.flatMap(Self.parameters(besides:)) + parameters + pageParameters)
            .filter { $0.place == .query }.map(\.name)
    }

    /// Checks that the description has each query parameter of a request. A misspelt filter would select too much.
    ///
    /// - Throws: `Problem` with the code `parameterInvalid`.
    func checkQuery(of request: Request) throws(Problem) {
        guard !ignoresUnknownParameters, request.uri.string.utf8.contains(UInt8(ascii: "?")) else { return }
        let known = queryNames
        for name in request.uri.queryParameters.map({ String($0.key) }) where !name.isEmpty {
            guard known.contains(where: name.hasSameBytes) else { throw .parameterUnknown(name, known: known) }
        }
    }

    /// The same operation for the app of a user, under `/v1/me`.
    package func own(_ name: String, _ summary: String? = nil, usesReserve: Bool = false) -> APIOperation {
        APIOperation(
            method, path.replacing("/v1/users/{user}", with: "/v1/me"), for: .app, usesReserve: usesReserve, name,
            summary ?? self.summary, details: details, parameters: parameters, body: body, answers: answers,
            or: others, never: never)
    }
}

/// The operations about one thing: a tag of the OpenAPI document.
package struct OperationTag: Sendable {
    package let name: String
    let description: String
    package let operations: [APIOperation]

    package init(_ name: String, _ description: String, _ operations: [APIOperation]) {
        (self.name, self.description, self.operations) = (name, description, operations)
    }
}

extension RouterGroup where Context == ServiceContext {
    /// Adds the route of each operation, for its callers. The group has no path of its own.
    package func on(
        _ operations: APIOperation...,
        use handler: @Sendable @escaping (Request, ServiceContext) async throws -> some ResponseGenerator
    ) {
        for operation in operations {
            let access = operation.access.map {
                AccessMiddleware(access: $0, isPerApp: operation.isPerApp, usesReserve: operation.usesReserve)
            }
            on(RouterPath(operation.path), method: operation.method) { request, context in
                guard let access else {
                    try operation.checkQuery(of: request)
                    return try await handler(request, context).response(from: request, context: context)
                }
                return try await access.handle(request, context: context) { request, context in
                    try operation.checkQuery(of: request)
                    return try await handler(request, context).response(from: request, context: context)
                }
            }
        }
    }
}

package struct Parameter: Sendable {
    package enum Place: String, Sendable {
        case path, query, header
    }

    let name: String
    let place: Place
    let isRequired: Bool
    let description: String
    let schema: Schema
    let example: JSONValue?
    /// The name of the component; nil for a parameter in place.
    var component: String?

    package static func path(
        _ name: String,
        _ description: String,
        _ schema: Schema = .text(length: 1 ... .max),
        example: JSONValue? = nil
    ) -> Parameter {
        Parameter(
            name: name, place: .path, isRequired: true, description: description, schema: schema, example: example)
    }

    package static func query(
        _ name: String,
        _ description: String,
        _ schema: Schema = .text(),
        isRequired: Bool = false,
        example: JSONValue? = nil
    ) -> Parameter {
        Parameter(
            name: name, place: .query, isRequired: isRequired, description: description, schema: schema,
            example: example)
    }

    package static func header(
        _ name: String,
        _ description: String,
        _ schema: Schema = .text(),
        isRequired: Bool = false
    ) -> Parameter {
        Parameter(
            name: name, place: .header, isRequired: isRequired, description: description, schema: schema, example: nil)
    }

    package static let pageSize = query(
        "pageSize", "The maximum number of entries.",
        .integer(in: RequestedPage.sizes, default: RequestedPage.standardSize)
    ).shared(as: "pageSize")
    package static let cursor = query("cursor", "The `nextCursor` of the previous page.").shared(as: "cursor")
    package static let issuer = query(
        "issuer", "The issuer of the user's tokens (`jwt-issuer`); absent for the back end's own users."
    ).shared(as: "issuer")
    package static let idempotencyKey = header(
        "Idempotency-Key", "The idempotency key. A retry with the same key gets the same answer.",
        .text(length: 1...IdempotentRequests.maximumKeyLength).with(["pattern": "^[!-~]+$"])
    ).shared(as: "idempotencyKey")
    package static let acceptLanguage = header("Accept-Language", "The language of names and descriptions.")
        .shared(as: "acceptLanguage")
    package static let ifNoneMatch = header("If-None-Match", "The entity tag of the caller's copy.")
        .shared(as: "ifNoneMatch")
    package static let position = header(
        "Till-Position", "The `Till-Position` of an answer. A standby that has caught up with it may answer."
    ).shared(as: "position")

    /// The condition of a change.
    ///
    /// - Parameter thing: The thing that changes, such as `product`.
    package static func ifMatch(_ thing: String) -> Parameter {
        header(
            HTTPField.Name.ifMatch.rawName,
            "The \(thing)'s `ETag` when it was read. The change is refused if the \(thing) has another one now.")
    }

    /// The parameter as a component, to which operations refer.
    package func shared(as component: String) -> Parameter {
        var parameter = self
        parameter.component = component
        return parameter
    }

    var json: JSONObject {
        [
            "name": .string(name), "in": .string(place.rawValue), "required": isRequired ? .bool(true) : nil,
            "description": .string(description), "schema": .object(schema.keywords), "example": example,
        ]
    }
}

package struct RequestBody: Sendable {
    let type: String
    let schema: Schema
    let isRequired: Bool
    let description: String?

    package static func json(_ schema: Schema, isRequired: Bool = true, _ description: String? = nil) -> RequestBody {
        RequestBody(type: "application/json", schema: schema, isRequired: isRequired, description: description)
    }

    /// A JSON object with these fields and no others.
    package static func json(_ fields: KeyValuePairs<String, Schema>) -> RequestBody {
        .json(.object().fields(fields).closed)
    }

    package static func form(_ fields: KeyValuePairs<String, Schema>) -> RequestBody {
        RequestBody(
            type: "application/x-www-form-urlencoded", schema: .object("The form.").fields(fields), isRequired: true,
            description: nil)
    }

    package func described(_ description: String) -> RequestBody {
        RequestBody(
            type: type, schema: schema.described(description), isRequired: isRequired, description: self.description)
    }

    /// A form with files.
    package static func multipart(_ fields: KeyValuePairs<String, Schema>) -> RequestBody {
        RequestBody(
            type: "multipart/form-data", schema: .object().fields(fields).closed, isRequired: true, description: nil)
    }
}

package struct Answer: Sendable {
    /// The status that stands for any success (2XX).
    package static let anySuccess = 2

    let status: Int
    let description: String
    /// The schemas by their media types; empty for an answer without content.
    private(set) var contents: [(type: String, schema: Schema)] = []
    /// True for a page, which the parameters `pageSize` and `cursor` select.
    private(set) var isPage = false
    private(set) var headers: [Header] = []

    package struct Header: Sendable {
        let name: String
        let description: String
        var schema: Schema = .text()

        /// The entity tag for changes.
        package static let entityTag = Header(name: "ETag", description: "For `If-Match`.")
        static let cacheTag = Header(name: "ETag", description: "For `If-None-Match`.")
        static let contentLanguage = Header(
            name: "Content-Language", description: "The language of names and descriptions.")
        static let replayed = Header(
            name: "Idempotent-Replayed",
            description: "`true` if the answer repeats that of an earlier request with the same key.",
            schema: .one(of: ["true"]))
        package static let position = Header(
            name: "Till-Position",
            description: "The commit after which a standby may answer, if the service uses standbys.")
        static let retryAfter = Header(
            name: "Retry-After", description: "The number of seconds before a retry.", schema: .integer())

        var json: JSONObject {
            ["description": .string(description), "schema": .object(schema.keywords)]
        }
    }

    /// An answer without content.
    package static func empty(_ description: String, status: Int = 204) -> Answer {
        Answer(status: status, description: description)
    }

    package static func json(_ description: String, _ schema: Schema, status: Int = 200) -> Answer {
        content(description, ["application/json": schema], status: status)
    }

    package static func json(_ description: String, _ type: any AnswerValue.Type, status: Int = 200) -> Answer {
        .json(description, type.schema, status: status)
    }

    /// A list of elements.
    package static func list(_ description: String, _ name: String, of element: Schema) -> Answer {
        .json(description, element.list(description, name, isPage: false))
    }

    package static func list<Element: Listed & AnswerValue>(_ description: String, of type: Element.Type) -> Answer {
        .list(description, Element.listName, of: Element.schema)
    }

    package static func page(_ description: String, _ name: String, of element: Schema) -> Answer {
        var answer = Answer.json(description, element.list(description, name, isPage: true))
        answer.isPage = true
        return answer
    }

    package static func page<Element: Listed & AnswerValue>(_ description: String, of type: Element.Type) -> Answer {
        .page(description, Element.listName, of: Element.schema)
    }

    package static func content(
        _ description: String,
        _ contents: KeyValuePairs<String, Schema>,
        status: Int = 200
    ) -> Answer {
        var answer = Answer(status: status, description: description)
        answer.contents = contents.map { ($0.key, $0.value) }
        return answer
    }

    /// The answer with a component for its schema.
    func named(_ name: String) -> Answer {
        var answer = self
        answer.contents = contents.map { ($0.type, $0.schema.named(name)) }
        return answer
    }

    package func header(_ name: String, _ description: String) -> Answer {
        with(Header(name: name, description: description))
    }

    /// The answer about a user, which tells back ends that the user is unknown.
    package var aboutUser: Answer {
        var answer = self
        answer.contents = contents.map { ($0.type, $0.schema.fields(UnknownUser.fields)) }
        return answer
    }

    package func with(_ headers: Header...) -> Answer {
        var answer = self
        answer.headers += headers
        return answer
    }
}
