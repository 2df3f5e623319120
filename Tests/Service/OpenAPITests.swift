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
        try JSONDecoder().decode(
            OpenAPI.self, from: Data(try OpenAPIDocument.composedWithSeedApp.get().json.compactBytes))
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

    @Test func `the routes of the seed's app are described only where they are on`() throws {
        let composed = try DescribedAPI(try OpenAPIDocument.composed.get().json.compactBytes)
        let missing = Set(try document().operations.keys).subtracting(composed.operations.keys)
        #expect(
            missing
                == Set(APIOperation.all.map(\.route).filter { $0.hasSuffix(" /v1/user") || $0.contains(" /v1/user/") }))
        #expect(missing.count == 6)
    }

    @Test func `the file in the documentation is what the program prints`() throws {
        let file = try Project.text("Documentation/openapi.json")
        // A difference would be printed with both texts.
        let isPrinted = try file == OpenAPIDocument.page + "\n"
        #expect(isPrinted, "Run `make openapi`.")
    }

    @Test func `each operation has a tag with a description`() throws {
        let described = try DescribedAPI(try OpenAPIDocument.composedWithSeedApp.get().json.compactBytes)
        guard case .array(let tags)? = described.document["tags"] else {
            Issue.record("The document has no tags.")
            return
        }
        let names = tags.compactMap { $0["name"]?.text }
        #expect(Set(names).count == tags.count)
        #expect(tags.allSatisfy { $0["description"]?.text?.hasSuffix(".") == true })
        let used = described.operations.values.map { DescribedAPI.texts($0["tags"]) }
        #expect(used.allSatisfy { $0.count == 1 })
        #expect(Set(used.flatMap(\.self)) == Set(names))
    }

    @Test func `the schema of each body and answer in JSON allows its example`() throws {
        let described = try DescribedAPI(try OpenAPIDocument.composedWithSeedApp.get().json.compactBytes)
        var count = 0
        for (name, operation) in described.operations {
            let answers = DescribedAPI.members(operation["responses"]).filter { $0.key.hasPrefix("2") }.map(\.value)
            for place in [operation["requestBody"]].compactMap(\.self) + answers {
                guard let media = place["content"]?["application/json"] else { continue }
                let (example, schema) = (try #require(media["example"], "\(name)"), try #require(media["schema"]))
                #expect(described.faults(of: example, schema) == [], "\(name)")
                count += 1
            }
        }
        #expect(count > 100)
    }

    @Test(arguments: [
        (#"{"type":"string","enum":["a"]}"#, #""b""#), (#"{"type":"string","maxLength":1}"#, #""ab""#),
        (#"{"type":"string","minLength":1}"#, #""""#), (#"{"type":"string","pattern":"^[a]$"}"#, #""b""#),
        (#"{"type":"string","format":"uuid"}"#, #""b""#), (#"{"type":"string","format":"date-time"}"#, #""b""#),
        (#"{"type":"integer","minimum":1}"#, "0"), (#"{"type":"integer","maximum":1}"#, "2"),
        (#"{"type":"integer"}"#, "true"), (#"{"type":["string","null"]}"#, "1"), (#"{"type":"string"}"#, #""…""#),
        (#"{"type":"array","items":{"type":"string"}}"#, "[1]"), (#"{"type":"array","minItems":1}"#, "[]"),
        (#"{"type":"object","required":["a"]}"#, "{}"),
        (#"{"type":"object","properties":{"a":{"type":"string"}}}"#, #"{"a":1}"#),
        (#"{"type":"object","properties":{},"additionalProperties":false}"#, #"{"a":1}"#),
    ])
    func `a value that a schema does not allow is found`(schema: String, value: String) throws {
        let described = try DescribedAPI(Array("{}".utf8))
        let (schema, value) = (try #require(JSONContent(json: schema)), try #require(JSONContent(json: value)))
        #expect(described.faults(of: value, schema).count == 1)
    }

    @Test func `objects and enumerations inside a component have components of their own`() throws {
        let outer = Schema.object("An outer.", named: "Outer").fields([
            "inner": .object("An inner.").fields(["kind": .one(of: ["a", "b"], "A kind.", default: "a")]),
            "parts": .array(of: .object().fields(["size": .integer()])),
        ])
        let described = try DescribedAPI(try Self.document(Self.operation(.get, answer: outer)).json.compactBytes)
        let schemas = try #require(described.document["components"]?["schemas"])
        #expect(schemas["Outer"]?["properties"]?["inner"]?["$ref"]?.text == "#/components/schemas/OuterInner")
        #expect(schemas["Outer"]?["properties"]?["inner"]?["description"]?.text == "An inner.")
        #expect(schemas["Outer"]?["properties"]?["parts"]?["items"]?["$ref"]?.text == "#/components/schemas/OuterPart")
        let kind = schemas["OuterInner"]?["properties"]?["kind"]
        #expect(kind?["$ref"]?.text == "#/components/schemas/OuterInnerKind")
        #expect(kind?["default"]?.text == "a")
        #expect(DescribedAPI.texts(schemas["OuterInnerKind"]?["enum"]) == ["a", "b"])
        #expect(described.components.subtracting(described.references) == [])
    }

    @Test func `the service answers with the composed document`() async throws {
        let answer = try await fixture.send(.get, "/openapi.json", key: "")
        #expect(answer.contentType == "application/json")
        #expect([UInt8](answer.body) == (try OpenAPIDocument.composedWithSeedApp.get().json.compactBytes))
        let tag = try #require(answer.headers[.eTag])
        #expect(try await fixture.send(.get, "/openapi.json", key: "", headers: [.ifNoneMatch: tag]).status == 304)
        #expect(try answer.decoded(OpenAPI.self).openapi == "3.1.0")
    }

    private static func document(_ operations: APIOperation...) throws(OpenAPIDocument.Defect) -> OpenAPIDocument {
        try OpenAPIDocument(
            title: "A", "B", codes: ["c"], tags: [OperationTag("C", "D.", operations)], pathParameters: [:])
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
        let operations = try JSONDecoder().decode(OpenAPI.self, from: Data(document.json.compactBytes)).operations
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
        let answers = try JSONDecoder().decode(OpenAPI.self, from: Data(probe.json.compactBytes))
            .operations["GET /c"]?.responses
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
        #expect(
            JSONValue.object(Outer.schema.keywords).compactText
                == #"{"type":"object","description":"An outer.","required":["origin","inner"],"properties":{"#
                + ##""origin":{"$ref":"#/components/schemas/Origin","description":"The origin of the purchase."},"##
                + #""inner":{"type":"array","items":{"#
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
        let references = Self.references(in: try OpenAPIDocument.composedWithSeedApp.get().json)
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
