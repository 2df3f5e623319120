import HTTPTypes
import Proofs

/// An answer that many operations share, as a component of the OpenAPI document.
package enum SharedAnswer: String, CaseIterable, Sendable {
    case invalid, unauthorized, forbidden, notFound, methodNotAllowed, conflict, preconditionFailed, tooLarge
    case unsupportedMediaType, refused, tooManyRequests, failed, badGateway, unavailable

    private var rule: (status: Int, description: String, headers: [Answer.Header]) {
        switch self {
        case .invalid: (400, "The request is invalid; `detail` names the field or parameter.", [])
        case .unauthorized:
            (
                401, "The request has no valid API key or token.",
                [.init(name: "WWW-Authenticate", description: "RFC 6750.")]
            )
        case .forbidden: (403, "The caller lacks the permission.", [])
        case .notFound: (404, "The resource does not exist.", [])
        case .methodNotAllowed:
            (
                405, "The path does not support the method.",
                [.init(name: "Allow", description: "The supported methods.")]
            )
        case .conflict: (409, "The request conflicts with the current state.", [])
        case .preconditionFailed: (412, "The resource has changed.", [])
        case .tooLarge: (413, "The body is too large.", [])
        case .unsupportedMediaType: (415, "The path does not accept the media type of the body.", [])
        case .refused: (422, "The request is well-formed, but the service refuses it.", [])
        case .tooManyRequests:
            (
                429, "The caller has exceeded its rate limit, or the day's bytes for new customers are used up.",
                [.retryAfter]
            )
        case .failed: (500, "The service failed.", [])
        case .badGateway: (502, "The store refuses the question, or answers with what is not accepted.", [])
        case .unavailable: (503, "The service is temporarily unavailable.", [.retryAfter])
        }
    }

    fileprivate var status: Int { rule.status }

    /// The error codes that a page explains, each under a heading of its own.
    package static func codes(explainedIn page: [UInt8]) -> [String] {
        String(decoding: page, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("### ") }
            .map { String($0.dropFirst(4)) }
    }

    /// The answer with the schema of a problem.
    ///
    /// - Parameter wording: Another description.
    fileprivate func json(_ problem: Schema, _ wording: String?) -> JSONObject {
        Answer.content(wording ?? rule.description, [Problem.contentType: problem]).json(adding: rule.headers)
    }

    fileprivate var name: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// The OpenAPI description of an API over HTTP, made from its operations.
package struct OpenAPIDocument: Sendable {
    /// A contradiction of the operations.
    package struct Defect: Error, Equatable {
        package let reason: String
    }

    /// A way in which callers prove who they are, with its name.
    package struct SecurityScheme: Sendable {
        let name: String
        fileprivate let json: JSONObject

        package init(_ name: String, _ description: String) {
            self.name = name
            json = ["type": "http", "scheme": "bearer", "description": .string(description)]
        }

        /// A back end's API key, and the token of an app's user.
        package static let apiKey = SecurityScheme("apiKey", "A back end's API key, made with `till keys make`.")
        package static let userToken = SecurityScheme(
            "userToken",
            "The token of an app's user: a JWT from the issuer that `till serve --jwt-issuer` names, or the access token of an "
                + "account (`till serve --accounts`).")

        /// Another service's token, which only the routes for it accept.
        package static let identityToken = SecurityScheme(
            "identityToken",
            "The identity token of a push by Pub/Sub, which Google signs (`till serve --google-notifications-audience`)."
        )
    }

    package let json: JSONValue

    /// - Parameters:
    ///   - server: The address of the paths, relative to that of the document.
    ///   - codes: The error codes.
    ///   - tags: The operations under their headings.
    ///   - optional: The routes that a setting turns on (`APIOperation.route`). They answer with 404 while it is off.
    ///   - security: The scheme of operations whose group has middleware of its own; nil if they have none.
    ///   - pathParameters: The parameters that follow from a name in a path, unless an operation describes them itself.
    ///   - wording: Other descriptions of shared answers.
    ///   - words: The texts and numbers of examples, by the names of their fields; nil for a document without examples.
    ///   - webhooks: The messages that the service sends, by name.
    package init(
        title: String,
        _ description: String,
        server: String = "/",
        codes: [String],
        tags: [OperationTag],
        optional: Set<String> = [],
        security: SecurityScheme? = nil,
        pathParameters: [String: [Parameter]],
        wording: [SharedAnswer: String] = [:],
        words: [String: JSONValue]? = nil,
        webhooks: KeyValuePairs<String, APIOperation> = [:]
    ) throws(Defect) {
        var draft = Draft(optional: optional, security: security, pathParameters: pathParameters, words: words)
        let problem = Schema.problem(codes: codes)
        draft.collect(problem)
        var paths: [(path: String, methods: JSONObject)] = []
        for tag in tags {
            for operation in tag.operations {
                let json = JSONValue.object(draft.json(of: operation, in: tag))
                let index = paths.firstIndex { $0.path == operation.path } ?? paths.endIndex
                if index == paths.endIndex { paths.append((operation.path, [:])) }
                if !paths[index].methods.add(operation.method.rawValue.lowercased(), json) {
                    draft.defects.append("\(operation.method) \(operation.path) twice")
                }
            }
        }
        let sent = webhooks.map { ($0.key, JSONValue.object(["post": .object(draft.json(of: $0.value, in: nil))])) }
        draft.nameInnerSchemas()
        if let reason = draft.defects.first { throw Defect(reason: reason) }
        let responses = SharedAnswer.allCases.filter(draft.answers.contains).map { answer in
            (answer.name, JSONValue.object(answer.json(problem, wording[answer])))
        }
        let schemes = (security.map { [$0] } ?? [.apiKey, .userToken, .identityToken]).map {
            ($0.name, JSONValue.object($0.json))
        }
        json = .object([
            "openapi": "3.1.0",
            "info": .object(["title": .string(title), "version": "1", "description": .string(description)]),
            "servers": .array([.object(["url": .string(server)])]),
            "security": security.map { .array([.object([$0.name: .array([])])]) },
            "tags": .array(
                tags.map { .object(["name": .string($0.name), "description": .string($0.description)]) }),
            "paths": .object(JSONObject(paths.map { ($0.path, .object($0.methods)) })),
            "webhooks": sent.isEmpty ? nil : .object(JSONObject(sent)),
            "components": .object([
                "schemas": .object(JSONObject(draft.schemas.sorted { $0.key < $1.key }.map { ($0, .object($1)) })),
                "responses": .object(JSONObject(responses)),
                "parameters": .object(
                    JSONObject(draft.parameters.sorted { $0.key < $1.key }.map { ($0, .object($1)) })),
                "securitySchemes": .object(JSONObject(schemes)),
            ]),
        ])
    }
}

/// A document in the making: what the operations share.
private struct Draft {
    let optional: Set<String>
    let security: OpenAPIDocument.SecurityScheme?
    let pathParameters: [String: [Parameter]]
    let words: [String: JSONValue]?
    var schemas: [String: JSONObject] = [:]
    var parameters: [String: JSONObject] = [:]
    var answers: Set<SharedAnswer> = []
    var defects: [String] = []

    mutating func collect(_ schema: Schema) {
        for (name, keywords) in schema.components {
            if schemas.updateValue(keywords, forKey: name) ?? keywords != keywords {
                defects.append("two schemas are named \(name)")
            }
        }
        defects += schema.defects
    }

    /// Gives each object and enumeration inside a schema a component. Generators of clients name types by components.
    mutating func nameInnerSchemas() {
        for (name, keywords) in schemas.sorted(by: { $0.key < $1.key }) {
            schemas[name] = namingSchemas(inside: keywords, of: name)
        }
    }

    private mutating func namingSchemas(inside schema: JSONObject, of name: String) -> JSONObject {
        var changes: JSONObject = [:]
        if case .object(let fields)? = schema["properties"] {
            let named = fields.members.map { ($0.key, reference(to: $0.value, named: name + $0.key.asTypeName)) }
            changes = ["properties": .object(JSONObject(named))]
        }
        if let element = schema["items"] {
            let singular = name.hasSuffix("s") ? String(name.dropLast()) : name
            changes = ["items": reference(to: element, named: singular)]
        }
        return schema.adding(changes)
    }

    /// A reference to a new component with the schema, if it is an object with fields or an enumeration.
    private mutating func reference(to value: JSONValue, named name: String) -> JSONValue {
        guard case .object(let schema) = value else { return value }
        let inner = namingSchemas(inside: schema, of: name)
        guard inner["properties"] != nil || inner["enum"] != nil else { return .object(inner) }
        // A default is one of the field, not of its type.
        let type = JSONObject(inner.members.filter { $0.key != "default" }.map { ($0.key, $0.value) })
        if schemas.updateValue(type, forKey: name) != nil { defects.append("two schemas are named \(name)") }
        return .object([
            "$ref": .string("#/components/schemas/\(name)"), "description": inner["description"],
            "default": inner["default"],
        ])
    }

    /// - Parameter tag: The tag of the operation; nil for a message that the service sends.
    mutating func json(of operation: APIOperation, in tag: OperationTag?) -> JSONObject {
        let body = operation.body?.named(operation.name.asTypeName + "Request")
        if let body { collect(body.schema) }
        let parameters = operation.allParameters(from: pathParameters).map { JSONValue.object(reference(to: $0)) }
        var responses: [(status: String, json: JSONObject)] = operation.answers.map { answer in
            let answer = answer.named(operation.name.asTypeName + "Answer")
            for content in answer.contents { collect(content.schema) }
            return (answer.text, answer.json(adding: operation.headers(of: answer), words))
        }
        if operation.isCacheable {
            let current = Answer.empty("The caller's copy is current.", status: 304)
            responses.append((current.text, current.json(adding: operation.headers(of: current))))
        }
        let ofClosedRoute: Set<SharedAnswer> = optional.contains(operation.route) ? [.notFound] : []
        for answer in operation.sharedAnswers(security).union(ofClosedRoute) {
            answers.insert(answer)
            responses.append((String(answer.status), ["$ref": .string("#/components/responses/\(answer.name)")]))
        }
        responses.sort { $0.status < $1.status }
        // The scheme of the document applies to operations without their own.
        let schemes = operation.security ?? (security == nil ? [] : nil)
        return [
            "operationId": .string(operation.name), "tags": tag.map { .array([.string($0.name)]) },
            "summary": .string(operation.summary),
            "description": operation.details.map { .string($0) },
            "parameters": parameters.isEmpty ? nil : .array(parameters),
            "requestBody": body.map { .object($0.json(words)) },
            "responses": .object(JSONObject(responses.map { ($0.status, .object($0.json)) })),
            // "For other security scheme types, the array MAY contain a list of role names" (OpenAPI 3.1, "Security Requirement Object").
            "security": schemes.map { schemes in
                .array(
                    schemes.map { scheme in
                        let scope =
                            scheme.name == OpenAPIDocument.SecurityScheme.apiKey.name ? operation.access?.scope : nil
                        return .object([scheme.name: .array([scope].compactMap { $0.map { .string($0.rawValue) } })])
                    })
            },
        ]
    }

    /// The parameter, or a reference to its component.
    private mutating func reference(to parameter: Parameter) -> JSONObject {
        collect(parameter.schema)
        guard let name = parameter.component else { return parameter.json }
        if parameters.updateValue(parameter.json, forKey: name) ?? parameter.json != parameter.json {
            defects.append("two parameters are named \(name)")
        }
        return ["$ref": .string("#/components/parameters/\(name)")]
    }
}

extension Schema {
    fileprivate static func problem(codes: [String]) -> Schema {
        Problem.schema.noting([
            "code": .one(of: codes, named: "ErrorCode", "The error code. It never changes.")
        ])
    }
}

extension String {
    /// The name of an operation or a field as that of a type.
    fileprivate var asTypeName: String { prefix(1).uppercased() + dropFirst() }
}

extension Schema {
    /// The content of a body or an answer, with an example if it is JSON.
    fileprivate func content(_ type: String, _ words: [String: JSONValue]?) -> JSONValue {
        .object([
            "schema": .object(keywords),
            "example": words.flatMap { type == "application/json" ? example($0) : nil },
        ])
    }
}

extension RequestBody {
    fileprivate func named(_ name: String) -> RequestBody {
        RequestBody(type: type, schema: schema.named(name), isRequired: isRequired, description: description)
    }

    fileprivate func json(_ words: [String: JSONValue]?) -> JSONObject {
        [
            "description": description.map { .string($0) }, "required": .bool(isRequired),
            "content": .object([type: schema.content(type, words)]),
        ]
    }
}

extension Answer {
    fileprivate var text: String { status == Self.anySuccess ? "2XX" : String(status) }

    fileprivate func json(adding others: [Header], _ words: [String: JSONValue]? = nil) -> JSONObject {
        let contents = contents.map { ($0.type, $0.schema.content($0.type, words)) }
        let headers = (headers + others).map { ($0.name, JSONValue.object($0.json)) }
        return [
            "description": .string(description), "content": contents.isEmpty ? nil : .object(JSONObject(contents)),
            "headers": headers.isEmpty ? nil : .object(JSONObject(headers)),
        ]
    }
}

extension APIOperation {
    /// The parameters, with those that follow from the path and from a page.
    fileprivate func allParameters(from known: [String: [Parameter]]) -> [Parameter] {
        let ofPath = pathParameters.filter { name in !parameters.contains { $0.place == .path && $0.name == name } }
            .flatMap { (known[$0] ?? []) + Self.parameters(besides: $0) }
        return ofPath + parameters + pageParameters
    }

    fileprivate var isCacheable: Bool { parameters.contains { $0.name == Parameter.ifNoneMatch.name } }

    /// The headers of an answer that follow from the parameters.
    fileprivate func headers(of answer: Answer) -> [Answer.Header] {
        guard !answer.contents.isEmpty || answer.status == 304 else { return [] }
        return parameters.compactMap { parameter in
            switch parameter.name {
            case Parameter.ifNoneMatch.name: .cacheTag
            case Parameter.acceptLanguage.name: .contentLanguage
            case Parameter.idempotencyKey.name: .replayed
            case Parameter.position.name: .position
            case HTTPField.Name.ifMatch.rawName: .entityTag
            default: nil
            }
        }
    }

    /// The security schemes, each sufficient; nil if the route's group has middleware of its own.
    fileprivate var security: [OpenAPIDocument.SecurityScheme]? {
        switch access {
        case .backEnd, .backEndOrPublicApp, .publicApp: [.apiKey]
        case .app: [.userToken]
        case .backEndOrApp: [.apiKey, .userToken]
        case .anybody: []
        case .identified: [.identityToken]
        case nil: nil
        }
    }

    /// The shared answers that the operation gives. They follow from its callers, parameters and body.
    ///
    /// - Parameter scheme: The scheme of operations whose group has middleware of its own.
    fileprivate func sharedAnswers(_ scheme: OpenAPIDocument.SecurityScheme?) -> Set<SharedAnswer> {
        var answers: Set<SharedAnswer> = [.methodNotAllowed]
        guard let schemes = security ?? scheme.map({ [$0] }) else { return answers.union(others) }
        if !schemes.isEmpty { answers.formUnion([.unauthorized, .failed, .unavailable]) }
        if security?.isEmpty == false { answers.formUnion([.forbidden, .notFound, .tooManyRequests]) }
        if path.contains("{") { answers.insert(.notFound) }
        if body != nil { answers.formUnion([.invalid, .tooLarge, .failed, .unavailable]) }
        if !ignoresUnknownParameters { answers.insert(.invalid) }
        for parameter in parameters {
            switch parameter.name {
            case Parameter.idempotencyKey.name: answers.formUnion([.conflict, .refused])
            case HTTPField.Name.ifMatch.rawName: answers.formUnion([.conflict, .preconditionFailed, .refused])
            default: break
            }
        }
        if body?.type == "multipart/form-data" { answers.insert(.unsupportedMediaType) }
        return answers.union(others).subtracting(never)
    }
}
