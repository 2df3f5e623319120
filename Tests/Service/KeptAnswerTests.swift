import Catalog
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

/// Answers about a catalog, which one router keeps until the catalog changes.
@Suite struct KeptAnswerTests {
    private struct Answer: Equatable {
        let status: Int
        let body: String
        let tag: String?
        let language: String?
    }

    private static let seed = "com.memolease.sesac1"
    private static let coins = #"{"type":"Consumable","displayPrice":"100","balance":"coins","amount":10}"#
    private static let offering =
        #"{"description":"All","packages":[{"identifier":"one","productID":"\#(seed).sprout1"}]}"#

    private let fixture: ServiceFixture
    private let garden: TestGarden
    private let router: Router<ServiceContext>

    init() async throws {
        garden = try TestGarden(start: ManualClock().now().rfc3339)
        fixture = try await ServiceFixture(selling: [App(garden.catalog)])
        router = fixture.routes.router()
    }

    private func key(of app: String) async throws -> String {
        try await fixture.keys.make(name: app, scopes: Set(APIKeyScope.allCases), app: app).key
    }

    private func send(
        _ method: HTTPRequest.Method = .get, _ path: String, _ body: String? = nil, key: String,
        in language: String = "en"
    ) async throws -> Answer {
        let headers: HTTPFields = [.authorization: "Bearer \(key)", .acceptLanguage: language]
        return try await Application(router: router).test(.router) { client in
            try await client.execute(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }
            ) {
                Answer(
                    status: $0.status.code, body: String(buffer: $0.body), tag: $0.headers[.eTag],
                    language: $0.headers[.contentLanguage])
            }
        }
    }

    @Test(arguments: ["/v1/products", "/v1/products?pageSize=3&sort=-price", "/v1/offerings"])
    func `a kept answer is about the app of the key, whoever asked first`(path: String) async throws {
        let (seed, flowers) = (try await key(of: Self.seed), try await key(of: garden.catalog.bundleIdentifier))
        let (ofSeed, ofFlowers) = (try await send(.get, path, key: seed), try await send(.get, path, key: flowers))
        #expect(ofSeed.status == 200 && ofFlowers.status == 200)
        #expect(path == "/v1/offerings" || ofSeed.body != ofFlowers.body)
        #expect(try await send(.get, path, key: seed) == ofSeed)
        #expect(try await send(.get, path, key: flowers) == ofFlowers)
    }

    @Test func `a kept answer is in the language of the request`() async throws {
        let seed = try await key(of: Self.seed)
        let (english, korean) = (
            try await send(.get, "/v1/products", key: seed), try await send(.get, "/v1/products", key: seed, in: "ko")
        )
        #expect(english.language == "en" && korean.language == "ko" && english.body != korean.body)
        #expect(try await send(.get, "/v1/products", key: seed) == english)
        #expect(try await send(.get, "/v1/products", key: seed, in: "ko") == korean)
    }

    @Test(arguments: [("/v1/products", "products/\(seed).coins", coins), ("/v1/offerings", "offerings/all", offering)])
    func `a change of the catalog replaces its kept answers`(path: String, subject: String, body: String) async throws {
        let seed = try await key(of: Self.seed)
        let before = try await send(.get, path, key: seed)
        #expect(try await send(.put, "/v1/catalog/\(subject)", body, key: seed).status == 201)
        let after = try await send(.get, path, key: seed)
        #expect(after.body != before.body && after.tag != before.tag)
        #expect(try await send(.get, path, key: seed) == after)
    }

    @Test func `an answer does not depend on the queries before it`() async throws {
        let seed = try await key(of: Self.seed)
        let first = try await send(.get, "/v1/products?search=1", key: seed)
        // Three hundred that are kept, and one that is too long to be kept.
        let long = String(repeating: "x", count: 500)
        for number in 0..<300 { _ = try await send(.get, "/v1/products?search=1&search=\(number)", key: seed) }
        #expect(try await send(.get, "/v1/products?search=1&search=\(long)", key: seed).body == first.body)
        #expect(try await send(.get, "/v1/products?search=1", key: seed) == first)
    }
}
