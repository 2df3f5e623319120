import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
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

    private func described() throws -> DescribedAPI { try DescribedAPI(StoreRoutes.description.openAPI) }

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

    private func page() throws -> String {
        try ["AppStore/StoreHTTP", "HTTPSupport/LocalStoreHTTP"].map {
            try Project.text("Sources/\($0)/Resources/Errors.md")
        }.joined()
    }

    @Test func `each route of Till's own has an operation, and each operation a route`() throws {
        // Apple and RFC 6960 describe the others.
        let others = ["/inApps", "/externalPurchase", "/advancedCommerce", "/groups", "/verifyReceipt", "/ocsp"]
        let own = routes.operations.filter { operation in
            !others.contains { operation.contains($0 + "/") || operation.hasSuffix($0) }
        }
        #expect(Set(try described().operations.keys) == Set(own))
    }

    @Test func `an operation without the key answers as described`() async throws {
        for (name, operation) in try described().operations {
            let parts = name.split(separator: " ")
            let method = try #require(HTTPRequest.Method(rawValue: String(parts[0])))
            let path = String(parts[1]).replacing(/\{[a-z]+\}/, with: "1")
            let answer = try await send(method, path)
            #expect((answer.status == .unauthorized) == (operation["security"] == nil), "\(name)")
            #expect(operation["responses"]?[String(answer.status.code)] != nil, "\(name) \(answer.status)")
        }
    }

    @Test func `an operation with the key answers as described`() async throws {
        for (name, operation) in try described().operations {
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
        ("ExternalTokenRequest", #"{"tokenType":"SERVICES"}"#), ("RetentionRequest", #"{"locale":"en-US"}"#),
        ("SignedRequest", #"{"signedRequest":"a.b.c"}"#),
    ])
    func `a body's schema requires the fields that decoding requires`(schema: String, json: String) throws {
        let schema = try #require(try described().document["components"]?["schemas"]?[schema])
        let body = try JSONDecoder().decode(JSONContent.self, from: Data(json.utf8))
        #expect(Set(DescribedAPI.texts(schema["required"])).subtracting(DescribedAPI.members(body).keys) == [])
        #expect(Set(DescribedAPI.members(body).keys).subtracting(DescribedAPI.members(schema["properties"]).keys) == [])
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
            (.post, "/externalPurchaseTokens", #"{"tokenType":"SERVICES"}"#), (.get, "/externalPurchaseTokens", nil),
            (.post, "/transactions/\(sold)/cancellation", nil), (.post, "/reset", nil),
        ] {
            let answer = try await send(
                method, "/sandbox/v1" + path, headers: [.authorization: "Bearer key"], body: body)
            let isCreated =
                method == .post && ["/purchases", "/notifications", "/externalPurchaseTokens"].contains(path)
            #expect(answer.status == (isCreated ? .created : .ok), "\(path)")
            let name =
                "\(method.rawValue) /sandbox/v1"
                + path.replacing("/alice/", with: "/{account}/").replacing(sold, with: "{transaction}")
            try described().check(answer.body.readableBytesView, of: name, answer.status.code)
        }
    }

    @Test func `each reference has a component, and each component a reference`() throws {
        let described = try described()
        #expect(described.references == described.components)
    }

    @Test func `the page explains the codes of the store, and the document lists exactly these`() throws {
        let explained = DescribedAPI.codes(try page())
        #expect(Set(explained).count == explained.count)
        var codes: Set<String> = []
        for folder in ["AppStore/StoreHTTP", "HTTPSupport/LocalStoreHTTP"] {
            for file in try Project.files("Sources/\(folder)", suffix: ".swift") {
                codes.formUnion(try Project.text(file).matches(of: /code: "([a-zA-Z]+)"/).map { String($0.1) })
            }
        }
        let errors = try Project.text("Sources/AppStore/Store/StoreError.swift")
        codes.formUnion(errors.matches(of: /ErrorRule\(\s*"([a-zA-Z]+)"/).map { String($0.1) })
        codes.formUnion([StoreError.accountInvalid("").rule.code, StoreError.accountUnknown("").rule.code])
        codes.insert(IllegalPaymentTransition(state: .finished, event: .finish).code)
        for code in Int32(0)...30 { codes.insert(StorageFault(sqliteResultCode: code, path: "").code) }
        codes.insert(StorageFault(cause: .otherVersion, path: "").code)
        #expect(codes.subtracting(explained) == [])
        // The other codes are HTTPSupport's, which the service explains, too.
        let service = DescribedAPI.codes(try Project.text("Sources/Service/Resources/Errors.md"))
        #expect(Set(explained).subtracting(service) == [])
        let listed = try described().document["components"]?["schemas"]?["ErrorCode"]?["enum"]
        #expect(DescribedAPI.texts(listed) == explained)
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
        #expect(try Array(buffer: answer.body) == StoreRoutes.description.openAPI)
        let tag = try #require(answer.headers[.eTag])
        #expect(try await send(.get, path, headers: [.ifNoneMatch: tag]).status == .notModified)
    }

    @Test func `a store that can be read is ready`() async throws {
        #expect(try await send(.get, "/health/ready").status == .noContent)
        #expect(try await send(.get, "/health/live").status == .noContent)
        #expect(try await send(.post, "/health/ready").status == .methodNotAllowed)
    }
}
