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
        let page = try Project.text("Sources/Service/Resources/Errors.md")
        let explained = page.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
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

    @Test func `the service answers with the composed document`() async throws {
        let answer = try await fixture.send(.get, "/openapi.json", key: "")
        #expect(answer.contentType == "application/json")
        #expect([UInt8](answer.body) == (try OpenAPIDocument.composed.get().bytes))
        let tag = try #require(answer.headers[.eTag])
        #expect(try await fixture.send(.get, "/openapi.json", key: "", headers: [.ifNoneMatch: tag]).status == 304)
        #expect(try answer.decoded(OpenAPI.self).openapi == "3.1.0")
    }

    @Test func `the document is composed of the folder's topics, which share no key`() throws {
        let files = try Project.files("Sources/Service/Resources/OpenAPI", suffix: ".json").sorted()
        let general = files.filter { $0.hasSuffix("/General.json") }
        let others = files.filter { !general.contains($0) }
        let topics =
            try (general + others).map { Array(try Project.text($0).utf8) } + [OpenAPIDocument.enumerations]
        #expect(try OpenAPIDocument(topics: topics).bytes == OpenAPIDocument.composed.get().bytes)
    }

    @Test func `topics share paths and kinds of components`() throws {
        let topics = [
            #"{"paths":{"/a":{"get":{}}},"components":{"schemas":{"A":{}}}}"#,
            #"{"paths":{"/a":{"put":{}},"/b":{}},"components":{"schemas":{"B":{}},"parameters":{}}}"#,
        ]
        let document = try OpenAPIDocument(topics: topics.map { Array($0.utf8) })
        #expect(
            String(decoding: document.bytes, as: UTF8.self)
                == #"{"paths":{"/a":{"get":{},"put":{}},"/b":{}},"#
                + #""components":{"schemas":{"A":{},"B":{}},"parameters":{}}}"#)
    }

    @Test(arguments: [
        (#"{"openapi":"3.1.0"}"#, ["openapi"]),
        (#"{"paths":{"/a":{"get":{}}}}"#, ["paths", "/a", "get"]),
        (#"{"components":{"schemas":{"A":{"type":"object"}}}}"#, ["components", "schemas", "A"]),
    ])
    func `topics that define the same key don't compose`(topic: String, key: [String]) throws {
        let topics = [Array(topic.utf8), Array(topic.utf8)]
        #expect(throws: OpenAPIDocument.Defect.duplicateKey(key)) { try OpenAPIDocument(topics: topics) }
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

    @Test func `each operation has a row in the API's documentation`() throws {
        let page = try Project.text("Documentation/API.md")
        for (path, methods) in try document().paths {
            for method in methods.keys {
                let row = page.split(separator: "\n").first {
                    $0.hasPrefix("| `\(method.uppercased()) ") && $0.contains("\(path)`")
                }
                #expect(row != nil, "\(method.uppercased()) \(path)")
            }
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
