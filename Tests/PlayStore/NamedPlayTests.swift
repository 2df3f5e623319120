import Catalog
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import PlayStore
import Proofs
import TestSupport
import Testing

/// The named Plays of one process. `NamedStoreTests` has their limit, their names and their end, which all local stores share.
@Suite struct NamedPlayTests {
    private struct Answer: JSONReadable {
        let status: Int
        let body: String

        var jsonData: Data { Data(body.utf8) }

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
    }

    private struct Client {
        let client: TestClient

        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, key: String? = "key",
            headers others: HTTPFields = [:]
        ) async throws -> Answer {
            var headers = others
            if let key { headers[.authorization] = "Bearer \(key)" }
            let answer = try await client.executeRequest(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
            return Answer(status: answer.status.code, body: String(buffer: answer.body))
        }

        func buy(in store: String) async throws -> PlayPurchaseResource {
            let body = #"{"packageName":"com.example.garden","productId":"garden.gate","account":"ada"}"#
            let answer = try await send(.post, "\(store)/sandbox/v1/purchases", body)
            #expect(answer.status == 201, "\(answer.body)")
            return try answer.decoded()
        }

        func purchases(in store: String) async throws -> Int {
            try await send(.get, "\(store)/sandbox/v1/purchases").decoded(List<PlayPurchaseResource>.self).elements
                .count
        }
    }

    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let play: GooglePlay

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        play = try GooglePlay(folder: folder.url, clock: clock, randomness: .seeded(1), newKey: TestKeys().next)
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
        }
    }

    private func withClient(
        hasNamedStores: Bool = true, _ body: @escaping @Sendable (Client) async throws -> Void
    ) async throws {
        let router = play.routes(sandboxKey: APIKey("key")).router(hasNamedStores: hasNamedStores)
        try await Application(router: router).test(.router) { try await body(Client(client: $0)) }
    }

    /// An access token of the Play without a name.
    private func token(_ client: Client) async throws -> String {
        let url = try #require(URL(string: "http://127.0.0.1:8082"))
        let account = try play.perform { try $0.makeServiceAccount(at: url) }
        let json = try JSONDecoder().decode(JSONContent.self, from: Data(try account.json()))
        #expect(json["token_uri"]?.text == "http://127.0.0.1:8082/token")
        let service = try GoogleServiceAccount(json: try account.json())
        let assertion = try service.assertion(at: clock.now())
        let answer = try await client.send(
            .post, "/token", "assertion=\(assertion)&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer",
            key: nil)
        return try #require(try answer.decoded(JSONContent.self)["access_token"]?.text)
    }

    @Test func `each name has purchases, a clock and faults of its own, and the same keys`() async throws {
        try await withClient { client in
            let bought = try await client.buy(in: "/stores/suite-7")
            #expect(try await client.purchases(in: "/stores/suite-7") == 1)
            #expect(try await client.purchases(in: "/stores/suite-8") == 0)
            #expect(try await client.purchases(in: "") == 0)
            let key = try PublicKey(rsaInformation: play.perform { try $0.licensingKey(of: "com.example.garden") })
            let signature = try #require(Base64.decode(bought.signedPurchase.signature))
            #expect(key.verifiesRSA(signature, over: bought.signedPurchase.data, digest: .sha1))
            let moved = try await client.send(.post, "/stores/suite-7/sandbox/v1/time/advance", #"{"by":"4d"}"#)
            #expect(moved.status == 200)
            // Only the purchase of this Play was not acknowledged in time.
            let other = try await client.buy(in: "/stores/suite-8")
            let path = "/sandbox/v1/purchases/1"
            let states = try await [
                client.send(.get, "/stores/suite-7" + path), client.send(.get, "/stores/suite-8" + path),
            ].map { try $0.decoded(PlayPurchaseResource.self).state }
            #expect(states == ["canceled", "purchased"])
            #expect(other.purchaseToken != bought.purchaseToken)
            #expect(try await client.send(.delete, "/stores/suite-7/sandbox/v1/store").status == 204)
            #expect(try await client.purchases(in: "/stores/suite-7") == 0)
            #expect(try await client.send(.delete, "/sandbox/v1/store").code == "invalidAction")
        }
    }

    @Test func `a named Play accepts the access tokens of the one without a name`() async throws {
        try await withClient { client in
            let token = try await token(client)
            let bought = try await client.buy(in: "/stores/suite-7")
            let path =
                "/androidpublisher/v3/applications/com.example.garden/purchases/products/garden.gate/tokens/"
                + bought.purchaseToken
            #expect(try await client.send(.get, "/stores/suite-7" + path, key: token).status == 200)
            #expect(try await client.send(.get, path, key: token).status == 404)
            #expect(try await client.send(.get, "/stores/suite-7" + path, key: "another").status == 401)
        }
    }

    @Test func `there is one Play beside a service`() async throws {
        try await withClient(hasNamedStores: false) { client in
            #expect(try await client.send(.get, "/stores/suite-7/sandbox/v1/purchases").status == 404)
            let name = try #require(HTTPField.Name("X-Till-Store"))
            let refused = try await client.send(.get, "/sandbox/v1/purchases", headers: [name: "suite-7"])
            #expect((refused.status, refused.code) == (400, "namedStoresUnavailable"))
        }
    }
}
