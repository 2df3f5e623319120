import AppStoreClient
import Foundation
import HTTPSupport
import Hummingbird
import Service
import StoreHTTP
import Testing
import TestSupport
import Wire

/// The description of the API, held against what the service does.
@Suite struct OpenAPITests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func document() throws -> [String: Any] {
        let text = try Project.text("Sources/Service/Resources/OpenAPI.json")
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Its operations, by method and path.
    private func operations() throws -> [String: [String: Any]] {
        let paths = try #require(try document()["paths"] as? [String: [String: [String: Any]]])
        var operations: [String: [String: Any]] = [:]
        for (path, methods) in paths {
            for (method, operation) in methods { operations["\(method.uppercased()) \(path)"] = operation }
        }
        return operations
    }

    @Test func everyRouteIsDescribedAndNoOther() throws {
        let described = Set(try operations().keys)
        let routes = Set(fixture.routes.operations)
        #expect(routes.subtracting(described) == [])
        #expect(described.subtracting(routes) == [])
    }

    @Test func everyCodeIsNamedAndNoOther() throws {
        let page = try Project.text("Sources/Service/Resources/Errors.md")
        let explained = page.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
        let components = try document()["components"] as? [String: [String: [String: Any]]]
        let problem = try #require(components?["schemas"]?["Problem"]?["properties"] as? [String: [String: Any]])
        let named = try #require(problem["code"]?["enum"] as? [String])
        #expect(Set(named) == Set(explained))
        #expect(named.count == explained.count)
    }

    @Test func whatNeedsACallerIsWhatSaysSo() async throws {
        for (name, operation) in try operations() {
            let parts = name.split(separator: " ")
            let method = try #require(HTTPRequest.Method(rawValue: String(parts[0])))
            let path = String(parts[1]).replacing(/\{[a-z]+\}/, with: "x")
            let answer = try await fixture.send(method, path, body: method == .get ? nil : "{}", key: "")
            let security = try #require(operation["security"] as? [[String: Any]], "\(name)")
            #expect((answer.status == 401) == !security.isEmpty, "\(name)")
            // Of each operation the statuses are told that it can answer with.
            let statuses = try #require(operation["responses"] as? [String: Any])
            #expect(statuses[String(answer.status)] != nil, "\(name) \(answer.status)")
        }
    }

    @Test func theServiceShowsIt() async throws {
        let answer = try await fixture.send(.get, "/openapi.json", key: "")
        #expect(answer.contentType == "application/json")
        #expect(
            String(decoding: answer.body, as: UTF8.self) == (try Project.text("Sources/Service/Resources/OpenAPI.json"))
        )
        let tag = try #require(answer.headers[.eTag])
        #expect(try await fixture.send(.get, "/openapi.json", key: "", headers: [.ifNoneMatch: tag]).status == 304)
        let version = try #require(try document()["openapi"] as? String)
        #expect(version == "3.1.0")
    }

    @Test func aPathTellsItsMethods() async throws {
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
