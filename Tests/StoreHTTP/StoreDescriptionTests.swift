import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The store's OpenAPI document, error codes and readiness, compared with its routes.
@Suite struct StoreDescriptionTests {
    let garden: TestGarden
    private let routes: StoreRoutes

    init() throws {
        garden = try TestGarden()
        routes = garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock)
    }

    private func document() throws -> JSONContent {
        try JSONDecoder().decode(JSONContent.self, from: Data(try StoreRoutes.openAPI))
    }

    private static func members(_ content: JSONContent?) -> [String: JSONContent] {
        guard case .object(let members)? = content else { return [:] }
        return members
    }

    private static func texts(_ content: JSONContent?) -> [String] {
        guard case .array(let elements)? = content else { return [] }
        return elements.compactMap(\.text)
    }

    /// The operations, by method in upper case and path.
    private func operations() throws -> [String: JSONContent] {
        var operations: [String: JSONContent] = [:]
        for (path, methods) in Self.members(try document()["paths"]) {
            for (method, operation) in Self.members(methods) {
                operations["\(method.uppercased()) \(path)"] = operation
            }
        }
        return operations
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: HTTPFields = [:],
        body: String? = nil
    ) async throws -> TestResponse {
        try await Application(router: routes.router()).test(.router) { client in
            try await client.executeRequest(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        }
    }

    private static func codes(_ page: String) -> [String] {
        page.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
    }

    private func page() throws -> String { try Project.text("Sources/AppStore/StoreHTTP/Resources/Errors.md") }

    @Test func `each route of Till's own has an operation, and each operation a route`() throws {
        // Apple and RFC 6960 describe the others.
        let others = ["/inApps", "/groups", "/verifyReceipt", "/ocsp"]
        let own = routes.operations.filter { operation in !others.contains { operation.contains($0) } }
        #expect(Set(try operations().keys) == Set(own))
    }

    @Test func `an operation without the key answers as described`() async throws {
        for (name, operation) in try operations() {
            let parts = name.split(separator: " ")
            let method = try #require(HTTPRequest.Method(rawValue: String(parts[0])))
            let path = String(parts[1]).replacing(/\{[a-z]+\}/, with: "1")
            let answer = try await send(method, path)
            #expect((answer.status == .unauthorized) == (operation["security"] == nil), "\(name)")
            #expect(operation["responses"]?[String(answer.status.code)] != nil, "\(name) \(answer.status)")
        }
    }

    @Test func `an operation with the key answers as described`() async throws {
        for (name, operation) in try operations() {
            let parts = name.split(separator: " ")
            let method = try #require(HTTPRequest.Method(rawValue: String(parts[0])))
            let path = String(parts[1]).replacing(/\{[a-z]+\}/, with: "1")
            let body = operation["requestBody"] == nil ? nil : #"{"nothing":1}"#
            let answer = try await send(method, path, headers: [.authorization: "Bearer key"], body: body)
            #expect(operation["responses"]?[String(answer.status.code)] != nil, "\(name) \(answer.status)")
            #expect((answer.status == .badRequest) || body == nil, "\(name) takes an unknown field")
        }
    }

    @Test(arguments: [
        ("PurchaseRequest", #"{"account":"a","productId":"garden.gate","quantity":1}"#),
        ("SharingRequest", #"{"account":"a"}"#), ("PriceIncreaseRequest", #"{"price":1,"needsConsent":true}"#),
        ("TimeAdvanceRequest", #"{"by":"1mo"}"#), ("NotificationFaultsRequest", #"{"faults":["drop"]}"#),
        ("NotificationRequest", #"{"notificationType":"RESCIND_CONSENT","account":"a"}"#),
        ("RetentionRequest", #"{"locale":"en-US"}"#), ("SignedRequest", #"{"signedRequest":"a.b.c"}"#),
    ])
    func `a body's schema requires the fields that decoding requires`(schema: String, json: String) throws {
        let schema = try #require(try document()["components"]?["schemas"]?[schema])
        let body = try JSONDecoder().decode(JSONContent.self, from: Data(json.utf8))
        #expect(Set(Self.texts(schema["required"])).subtracting(Self.members(body).keys) == [])
        #expect(Set(Self.members(body).keys).subtracting(Self.members(schema["properties"]).keys) == [])
    }

    @Test func `answers have the fields of their schemas`() async throws {
        try garden.buy("garden.basic.monthly")
        let sold = try #require(try garden.store.history(of: "alice").first).transactionIdentifier
        for (method, path, body) in [
            (HTTPRequest.Method.get, "/settings", nil), (.get, "/queue", nil), (.get, "/products", nil),
            (.get, "/notifications", nil), (.get, "/accounts/alice/transactions", nil),
            (.get, "/accounts/alice/subscriptions", nil), (.get, "/accounts/alice/receipt", nil),
            (.get, "/accounts/alice/appTransaction", nil), (.post, "/time/advance", #"{"by":"1mo"}"#),
            (.post, "/time/advance", #"{"by":"1mo","account":"alice"}"#), (.get, "/time", nil),
            (.post, "/purchases", #"{"account":"alice","productId":"garden.gate"}"#),
            (.post, "/purchases", #"{"account":"alice","productId":"garden.basic.monthly"}"#),
            (.post, "/purchases", #"{"account":"alice","productId":"garden.basic.yearly"}"#),
            (.post, "/notifications", #"{"notificationType":"RESCIND_CONSENT","account":"alice"}"#),
            (.post, "/signedRequests", #"{"signedRequest":"a.b.c"}"#),
            (.post, "/transactions/\(sold)/cancellation", nil), (.post, "/reset", nil),
        ] {
            let answer = try await send(
                method, "/sandbox/v1" + path, headers: [.authorization: "Bearer key"], body: body)
            let isCreated = method == .post && ["/purchases", "/notifications"].contains(path)
            #expect(answer.status == (isCreated ? .created : .ok), "\(path)")
            let name =
                "\(method.rawValue) /sandbox/v1"
                + path.replacing("/alice/", with: "/{account}/").replacing(sold, with: "{transaction}")
            let operation = try #require(try operations()[name])
            let schema = operation["responses"]?[String(answer.status.code)]?["content"]?["application/json"]?["schema"]
            try check(JSONDecoder().decode(JSONContent.self, from: answer.body), schema, path)
        }
    }

    /// Compares an answer with its schema, field by field.
    private func check(_ value: JSONContent, _ schema: JSONContent?, _ place: String) throws {
        var schema = try #require(schema, "\(place)")
        if let reference = schema["$ref"]?.text {
            let name = String(reference.split(separator: "/").last ?? "")
            schema = try #require(try document()["components"]?["schemas"]?[name], "\(place)")
        }
        switch value {
        case .object(let members):
            #expect(schema["type"]?.text == "object", "\(place)")
            #expect(Set(Self.texts(schema["required"])).subtracting(members.keys) == [], "\(place)")
            guard schema["additionalProperties"] == nil else { return }
            for (name, member) in members { try check(member, schema["properties"]?[name], "\(place)/\(name)") }
        case .array(let elements):
            #expect(schema["type"]?.text == "array", "\(place)")
            for element in elements { try check(element, schema["items"], place) }
        case .string(let text):
            #expect(schema["type"]?.text == "string", "\(place)")
            if schema["enum"] != nil { #expect(Self.texts(schema["enum"]).contains(text), "\(place): \(text)") }
        case .integer: #expect(schema["type"]?.text == "integer", "\(place)")
        case .bool: #expect(schema["type"]?.text == "boolean", "\(place)")
        case .number, .null: Issue.record("\(place)")
        }
    }

    @Test func `each reference has a component, and each component a reference`() throws {
        let document = try document()
        var definitions: Set<String> = []
        for kind in ["parameters", "responses", "schemas"] {
            definitions.formUnion(
                Self.members(document["components"]?[kind]).keys.map { "#/components/\(kind)/\($0)" })
        }
        #expect(Self.references(in: document) == definitions)
    }

    private static func references(in value: JSONContent) -> Set<String> {
        switch value {
        case .object(let members):
            Set(members.values.flatMap { references(in: $0) }).union([members["$ref"]?.text].compactMap(\.self))
        case .array(let elements): Set(elements.flatMap { references(in: $0) })
        default: []
        }
    }

    @Test func `the page explains the codes of the store, and the document lists exactly these`() throws {
        let explained = Self.codes(try page())
        #expect(Set(explained).count == explained.count)
        var codes: Set<String> = []
        for file in try Project.files("Sources/AppStore/StoreHTTP", suffix: ".swift") {
            codes.formUnion(try Project.text(file).matches(of: /code: "([a-zA-Z]+)"/).map { String($0.1) })
        }
        let errors = try Project.text("Sources/AppStore/Store/StoreError.swift")
        codes.formUnion(errors.matches(of: /ErrorRule\(\s*"([a-zA-Z]+)"/).map { String($0.1) })
        codes.insert(IllegalPaymentTransition(state: .finished, event: .finish).code)
        for code in Int32(0)...30 { codes.insert(StorageFault(sqliteResultCode: code, path: "").code) }
        codes.insert(StorageFault(cause: .otherVersion, path: "").code)
        #expect(codes.subtracting(explained) == [])
        // The other codes are HTTPSupport's, which the service explains, too.
        let service = Self.codes(try Project.text("Sources/Service/Resources/Errors.md"))
        #expect(Set(explained).subtracting(service) == [])
        let listed = try document()["components"]?["schemas"]?["ErrorCode"]?["enum"]
        #expect(Self.texts(listed) == explained)
    }

    @Test func `a problem leads to the page`() async throws {
        let answer = try await send(.get, "/sandbox/v1/time")
        let problem = try JSONDecoder().decode(ProblemResource.self, from: answer.body)
        let parts = problem.type.split(separator: "#")
        #expect(parts == ["/errors", "unauthenticated"])
        let page = try await send(.get, String(parts[0]))
        #expect(page.headers[.contentType] == "text/markdown; charset=utf-8")
        #expect(String(buffer: page.body) == (try self.page()))
    }

    @Test(arguments: ["/openapi.json", "/sandbox/v1/openapi.json"])
    func `the document is answered without the key, with an entity tag`(path: String) async throws {
        let answer = try await send(.get, path)
        #expect(try Array(buffer: answer.body) == StoreRoutes.openAPI)
        let tag = try #require(answer.headers[.eTag])
        #expect(try await send(.get, path, headers: [.ifNoneMatch: tag]).status == .notModified)
    }

    @Test func `a store that can be read is ready`() async throws {
        #expect(try await send(.get, "/health/ready").status == .noContent)
        #expect(try await send(.get, "/health/live").status == .noContent)
        #expect(try await send(.post, "/health/ready").status == .methodNotAllowed)
    }
}
