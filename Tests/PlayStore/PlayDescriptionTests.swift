import Catalog
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import PlayStore
import Proofs
import TestSupport
import Testing

/// The Play's OpenAPI document, error codes and readiness, compared with its routes.
@Suite struct PlayDescriptionTests {
    private static let packageName = "com.example.garden"

    private let folder: TemporaryFolder
    private let routes: PlayRoutes

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        let play = try GooglePlay(
            folder: folder.url, clock: ManualClock(), randomness: .seeded(1), newKey: TestKeys().next)
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
        }
        routes = play.routes(sandboxKey: APIKey("key"))
    }

    private func described() throws -> DescribedAPI { try DescribedAPI(PlayRoutes.description.openAPI) }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, key: String? = nil, _ body: String? = nil
    ) async throws -> TestResponse {
        try await Application(router: routes.router()).test(.router) { client in
            try await client.executeRequest(
                uri: path, method: method, headers: key.map { [.authorization: "Bearer \($0)"] } ?? [:],
                body: body.map { ByteBuffer(string: $0) })
        }
    }

    @Test func `each route of Till's own has an operation, and each operation a route`() throws {
        // Google describes the others.
        let others = ["/androidpublisher", "/batch", "/token", "/oauth2"]
        let own = routes.operations.filter { operation in !others.contains { operation.contains(" \($0)") } }
        #expect(Set(try described().operations.keys) == Set(own))
        #expect(try described().references == described().components)
    }

    @Test(arguments: [nil, "key"]) func `an operation answers as described`(key: String?) async throws {
        for (name, operation) in try described().operations {
            let parts = name.split(separator: " ")
            let method = try #require(HTTPRequest.Method(rawValue: String(parts[0])))
            let path = String(parts[1]).replacing(/\{[a-z]+\}/, with: "1")
            let body = operation["requestBody"] == nil ? nil : #"{"nothing":1}"#
            let answer = try await send(method, path, key: key, body)
            #expect(operation["responses"]?[String(answer.status.code)] != nil, "\(name) \(answer.status)")
            if key == nil {
                #expect((answer.status == .unauthorized) == (operation["security"] == nil), "\(name)")
            } else {
                #expect(answer.status == .badRequest || body == nil, "\(name) takes an unknown field")
            }
        }
    }

    @Test func `answers have the fields of their schemas`() async throws {
        let garden = #""packageName":"\#(Self.packageName)","account":"ada""#
        for (method, path, body, status) in [
            (HTTPRequest.Method.post, "/purchases", #"{\#(garden),"productId":"garden.gate"}"#, 201),
            (.post, "/purchases", #"{\#(garden),"productId":"garden.seeds","isPending":true}"#, 201),
            (.get, "/purchases", nil, 200), (.get, "/purchases/1", nil, 200),
            (.post, "/purchases/2/complete", nil, 200), (.post, "/purchases/2/refund", #"{"quantity":1}"#, 200),
            (.post, "/subscriptions", #"{\#(garden),"productId":"garden.basic.monthly"}"#, 201),
            (.get, "/subscriptions", nil, 200), (.get, "/subscriptions/3", nil, 200),
            (.post, "/subscriptions/3/pause", #"{"length":"P2M"}"#, 200), (.post, "/subscriptions/3/cancel", nil, 200),
            (.put, "/notifications/push", #"{"endpoint":"http://127.0.0.1:3000/google"}"#, 200),
            (.post, "/notifications/test", #"{"packageName":"\#(Self.packageName)"}"#, 201),
            (.post, "/notifications/faults", #"{"faults":["drop","delay:60"]}"#, 201),
            (.post, "/notifications/1/replay", nil, 200), (.get, "/notifications", nil, 200),
            (.post, "/faults", #"{"reason":"backendError","status":503}"#, 201), (.get, "/faults", nil, 200),
            (.delete, "/faults", nil, 200),
            (.get, "/methods", nil, 200), (.get, "/disputes", nil, 200),
            (
                .post, "/externalTransactionTokens",
                #"{"packageName":"\#(Self.packageName)","billingProgram":"EXTERNAL_OFFER"}"#, 201
            ),
            (
                .post, "/externalApps",
                #"{"packageName":"\#(Self.packageName)","installedAppPackage":"com.example.game","category":"GAME"}"#,
                201
            ),
            (.get, "/externalApps", nil, 200),
            (.get, "/apps/\(Self.packageName)", nil, 200), (.put, "/apps/com.example.other", nil, 200),
            (.post, "/service-accounts", #"{"packageNames":["\#(Self.packageName)"]}"#, 200),
            (.post, "/time/advance", #"{"by":"1d"}"#, 200),
            (.post, "/time/advance", #"{"by":"1mo","account":"ada"}"#, 200), (.get, "/time", nil, 200),
            (.get, "/time?account=ada", nil, 200), (.post, "/reset", nil, 200),
        ] as [(HTTPRequest.Method, String, String?, Int)] {
            let answer = try await send(method, "/sandbox/v1" + path, key: "key", body)
            #expect(answer.status.code == status, "\(path): \(String(buffer: answer.body))")
            let name =
                "\(method.rawValue) /sandbox/v1"
                + path.replacing(/\?.*/, with: "").replacing(/\/[0-9]+/, with: "/{number}")
                .replacing(/com\.example\.[a-z]+/, with: "{package}")
            try described().check(answer.body.readableBytesView, of: name, answer.status.code)
        }
    }

    @Test func `the page explains the codes of the Play, and the document lists exactly these`() async throws {
        let page = try await send(.get, "/errors")
        let explained = DescribedAPI.codes(String(buffer: page.body))
        #expect(Set(explained).count == explained.count)
        var codes: Set<String> = [
            PlayError.accountInvalid("").rule.code, PlayError.accountUnknown("").rule.code,
        ]
        let errors = try Project.text("Sources/PlayStore/Play/GooglePlay.swift")
        codes.formUnion(errors.matches(of: /ErrorRule\(\s*"([a-zA-Z]+)"/).map { String($0.1) })
        #expect(codes.subtracting(explained) == [])
        let listed = try described().document["components"]?["schemas"]?["ErrorCode"]?["enum"]
        #expect(DescribedAPI.texts(listed) == explained)
    }

    @Test func `a Play that can be read is ready`() async throws {
        #expect(try await send(.get, "/health/ready").status == .noContent)
        #expect(try await send(.get, "/health/live").status == .noContent)
        let described = try await send(.get, "/openapi.json")
        #expect(try Array(buffer: described.body) == PlayRoutes.description.openAPI)
    }
}
