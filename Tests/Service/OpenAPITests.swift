import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

/// Comparisons of the OpenAPI document with the service, in both directions.
@Suite struct OpenAPITests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func document() throws -> OpenAPI {
        try JSONDecoder().decode(OpenAPI.self, from: Data(try OpenAPIDocument.composed.get().bytes))
    }

    @Test func `each route has an operation, and each operation a route`() throws {
        let described = Set(try document().operations.keys)
        let routes = Set(fixture.routes.operations)
        #expect(routes.subtracting(described) == [])
        #expect(described.subtracting(routes) == [])
    }

    @Test func `the problem schema lists exactly the documented codes`() throws {
        let explained = SharedAnswer.codes(explainedIn: ServiceRoutes.errorPage)
        let named = try #require(try document().components.schemas["ErrorCode"]?.values)
        #expect(Set(named) == Set(explained))
        #expect(named.count == explained.count)
    }

    @Test func `an operation without credentials answers as described`() async throws {
        for (name, operation) in try document().operations {
            let parts = name.split(separator: " ")
            let method = try #require(HTTPRequest.Method(rawValue: String(parts[0])))
            let path = String(parts[1]).replacing(/\{[a-z]+\}/, with: "x")
            let answer = try await fixture.send(method, path, body: method == .get ? nil : "{}", key: "")
            let security = try #require(operation.security, "\(name)")
            #expect((answer.status == 401) == !security.isEmpty, "\(name)")
            let statuses = try #require(operation.responses)
            #expect(statuses[String(answer.status)] != nil, "\(name) \(answer.status)")
        }
    }

    /// A route that forgets its callers is described as one for anybody, so that no other test would notice.
    @Test func `only the listed operations need no key and no token`() throws {
        let open = try document().operations.filter { $0.value.security?.isEmpty == true }.keys
        // The app that Till began with sends its token in a header of its own.
        let found = open.filter { !$0.hasSuffix(" /v1/user") && !$0.contains(" /v1/user/") }
        #expect(Set(found) == OperationPermission.operations(.open))
    }

    @Test func `the service answers with the composed document`() async throws {
        let answer = try await fixture.send(.get, "/openapi.json", key: "")
        #expect(answer.contentType == "application/json")
        #expect([UInt8](answer.body) == (try OpenAPIDocument.composed.get().bytes))
        let tag = try #require(answer.headers[.eTag])
        #expect(try await fixture.send(.get, "/openapi.json", key: "", headers: [.ifNoneMatch: tag]).status == 304)
        #expect(try answer.decoded(OpenAPI.self).openapi == "3.1.0")
    }

    private static func document(_ operations: APIOperation...) throws(OpenAPIDocument.Defect) -> OpenAPIDocument {
        try OpenAPIDocument(title: "A", "B", codes: ["c"], operations: operations, pathParameters: [:])
    }

    private static func operation(_ method: HTTPRequest.Method, answer: Schema) -> APIOperation {
        APIOperation(method, "/a", for: .backEnd(.read), "a", "A", answers: [.json("A.", answer)])
    }

    @Test func `the shared answers and the security follow from the callers, the parameters and the body`() throws {
        let document = try Self.document(
            APIOperation(
                .put, "/a/{b}", for: .backEndOrApp(.read), "put", "Puts",
                parameters: [.path("b", "B."), .idempotencyKey], body: .json(["c": .text()]),
                answers: [.json("A.", .anyObject, status: 201)]),
            APIOperation(.get, "/b", for: .anybody, "get", "Gets", answers: [.empty("B.")], or: [.failed]))
        let operations = try JSONDecoder().decode(OpenAPI.self, from: Data(document.bytes)).operations
        let put = try #require(operations["PUT /a/{b}"])
        #expect(put.security == [["apiKey": ["read"]], ["userToken": []]])
        #expect(
            put.responses.map { Set($0.keys) } == [
                "201", "400", "401", "403", "404", "405", "409", "413", "422", "429", "500", "503",
            ])
        let get = try #require(operations["GET /b"])
        #expect(get.security == [])
        #expect(get.responses.map { Set($0.keys) } == ["204", "400", "405", "500"])
        let probe = try Self.document(
            APIOperation(
                .get, "/c", for: .anybody, ignoresUnknownParameters: true, "probe", "Probes", answers: [.empty("C.")]))
        let answers = try JSONDecoder().decode(OpenAPI.self, from: Data(probe.bytes)).operations["GET /c"]?.responses
        #expect(answers.map { Set($0.keys) } == ["204", "405"])
    }

    @Test func `a schema has the fields of the answer`() throws {
        struct Inner: AnswerObject {
            static let answerFields = AnswerFields<Self> { $0.field("flag", \.flag) }

            let flag: Bool
        }
        struct Outer: AnswerObject {
            static let answerFields = AnswerFields<Self>("An outer.") {
                $0.field("origin", \.origin)
                $0.field("inner", \.inner)
                $0.field("count", "A count.", \.count)
            }

            let origin: Origin
            let inner: [Inner]
            let count: Int?
        }
        let origins = Origin.allCases.map { #""\#($0.rawValue)""# }.joined(separator: ",")
        #expect(
            JSONValue.object(Outer.schema.keywords).compactText
                == #"{"type":"object","description":"An outer.","required":["origin","inner"],"properties":{"#
                + #""origin":{"type":"string","description":"The origin of the purchase.","enum":["#
                + origins + #"]},"inner":{"type":"array","items":{"#
                + #""type":"object","required":["flag"],"properties":{"flag":{"type":"boolean"}}}},"#
                + #""count":{"type":"integer","description":"A count."}}}"#)
    }

    @Test func `operations that contradict each other have no document`() throws {
        let (text, number) = (Schema.object("A.", named: "A"), Schema.object("B.", named: "A"))
        #expect(throws: OpenAPIDocument.Defect.self) {
            try Self.document(Self.operation(.get, answer: .anyObject), Self.operation(.get, answer: .anyObject))
        }
        #expect(throws: OpenAPIDocument.Defect.self) {
            try Self.document(Self.operation(.get, answer: text), Self.operation(.put, answer: number))
        }
        let unknown = Schema.object("A problem.").noting(["nothing": "A field that the type lacks."])
        #expect(throws: OpenAPIDocument.Defect.self) { try Self.document(Self.operation(.get, answer: unknown)) }
        #expect(throws: Never.self) {
            try Self.document(Self.operation(.get, answer: text), Self.operation(.put, answer: text))
        }
    }

    @Test func `each reference has a component, and each component a reference`() throws {
        let references = Self.references(in: try JSONParser.parse(try OpenAPIDocument.composed.get().bytes))
        let definitions = try document().definitions
        #expect(references.subtracting(definitions) == [])
        #expect(definitions.subtracting(references) == [])
    }

    private static func references(in value: JSONValue) -> Set<String> {
        switch value {
        case .object(let object):
            var references = Set(object.members.flatMap { Self.references(in: $0.value) })
            if case .string(let reference)? = object["$ref"] { references.insert(reference) }
            return references
        case .array(let elements): return Set(elements.flatMap { Self.references(in: $0) })
        case .string, .number, .bool, .null: return []
        }
    }

    @Test func `each operation has a row in the API's documentation, with its scope`() throws {
        let page = try Project.text("Documentation/API.md")
        for (name, operation) in try document().operations {
            let (method, path) = (name.prefix { $0 != " " }, name.drop { $0 != " " }.dropFirst())
            let rows = page.split(separator: "\n").filter {
                $0.hasPrefix("| `\(method) ") && $0.contains("\(path)`")
            }
            #expect(!rows.isEmpty, "\(name)")
            guard let scope = operation.security?.compactMap({ $0["apiKey"]?.first }).first else { continue }
            #expect(rows.contains { $0.contains("`\(scope)`") }, "\(name) needs the scope \(scope)")
        }
    }

    @Test func `a path answers other methods with its own, and HEAD as GET`() async throws {
        let answer = try await fixture.send(.delete, "/v1/users/alice")
        #expect(answer.status == 405)
        #expect(answer.code == "methodNotAllowed")
        #expect(answer.headers[.allow] == "GET, HEAD, PUT")
        let head = try await fixture.send(.head, "/v1/products")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.headers[.eTag] != nil)
    }
}
