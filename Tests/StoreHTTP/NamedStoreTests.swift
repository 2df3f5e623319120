import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import TestSupport
import Testing

/// The named stores of one process: their limit, their names and their end.
@Suite struct NamedStoreTests {
    private static let hour: Int64 = 3_600_000

    let garden: TestGarden

    init() throws {
        garden = try TestGarden()
    }

    private struct Answer: JSONReadable {
        let status: Int
        let body: String

        var jsonData: Data { Data(body.utf8) }

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }

        /// The products of a list of sales.
        var products: [String] {
            get throws { try decoded(List<SaleResource>.self).elements.map(\.productId) }
        }
    }

    /// A client of one process.
    private struct Client {
        let client: TestClient

        func send(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ body: String? = nil,
            store: String? = nil,
            key: String? = "key"
        ) async throws -> Answer {
            var headers: HTTPFields = key.map { [.authorization: "Bearer \($0)"] } ?? [:]
            let name = try #require(HTTPField.Name("X-Till-Store"))
            headers[name] = store
            let answer = try await client.executeRequest(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
            return Answer(status: answer.status.code, body: String(buffer: answer.body))
        }

        /// Buys a product for alice.
        func buy(_ product: String, in prefix: String, store: String? = nil) async throws {
            let body = #"{"account":"alice","productId":"\#(product)"}"#
            #expect(try await send(.post, prefix + "/sandbox/v1/purchases", body, store: store).status == 201)
        }

        /// The products that alice has bought.
        func sales(in prefix: String, store: String? = nil) async throws -> [String] {
            try await send(.get, prefix + "/sandbox/v1/accounts/alice/transactions", store: store).products
        }
    }

    private func withClient(_ body: @escaping @Sendable (Client) async throws -> Void) async throws {
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        try await application.test(.router) { try await body(Client(client: $0)) }
    }

    @Test func `the prefix and the header lead to the same store`() async throws {
        try await withClient { client in
            try await client.buy("garden.gate", in: "/stores/suite-7")
            try await client.buy("garden.seeds", in: "", store: "suite-7")
            try await client.buy("garden.season", in: "")
            #expect(try await client.sales(in: "", store: "suite-7") == ["garden.gate", "garden.seeds"])
            // The path counts if both are sent.
            #expect(try await client.sales(in: "/stores/suite-7", store: "suite-8") == ["garden.gate", "garden.seeds"])
            #expect(try await client.sales(in: "/stores/suite-8") == [])
            #expect(try await client.sales(in: "/stores/Suite-7") == [])
        }
        #expect(try garden.store.history(of: "alice").map(\.productIdentifier) == ["garden.season"])
    }

    @Test func `a named store answers all routes of a stand-alone store`() async throws {
        try await withClient { client in
            for path in ["/openapi.json", "/errors", "/sandbox/v1/openapi.json"] {
                #expect(try await client.send(.get, "/stores/a" + path, key: nil).status == 200, "\(path)")
            }
            #expect(try await client.send(.get, "/stores/a/health/ready", key: nil).status == 204)
            let receipt = try await client.send(.post, "/stores/a/verifyReceipt", "{}", key: nil)
            #expect(receipt.body.contains("21002"))
            let time = try await client.send(.get, "/stores/a/sandbox/v1/time?account=alice")
            #expect((time.status, time.code) == (404, "accountUnknown"))
            #expect(try await client.send(.get, "/stores/a/sandbox/v1/time", key: nil).code == "unauthenticated")
            #expect(try await client.send(.get, "/stores/a/inApps/v1/transactions/1").status == 401)
            #expect(try await client.send(.delete, "/stores/a/sandbox/v1/time").code == "methodNotAllowed")
            for path in ["/stores/a", "/stores/a/", "/stores/a/none", "/stores/a/stores/b/sandbox/v1/time"] {
                #expect(try await client.send(.get, path).code == "notFound", "\(path)")
            }
        }
    }

    @Test func `a name has at most 64 letters, digits and signs of ASCII`() async throws {
        try await withClient { client in
            for name in ["a", "7", "Suite_7.b-c", String(repeating: "a", count: 64)] {
                #expect(try await client.send(.get, "/stores/\(name)/sandbox/v1/time").status == 200, "\(name)")
            }
            for name in ["", "-a", ".a", "..", "_", "a%20b", "a:b", "%ED%95%9C", String(repeating: "a", count: 65)] {
                let answer = try await client.send(.get, "/stores/\(name)/sandbox/v1/time")
                #expect((answer.status, answer.code) == (400, "storeNameInvalid"), "\(name)")
            }
            for name in ["", "a b", "a, b", String(repeating: "a", count: 65)] {
                let answer = try await client.send(.get, "/sandbox/v1/time", store: name)
                #expect((answer.status, answer.code) == (400, "storeNameInvalid"), "\(name)")
            }
        }
    }

    @Test func `256 stores are made at once, and a further one once another is deleted`() async throws {
        try await withClient { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...256 {
                    group.addTask { try await client.buy("garden.gate", in: "/stores/suite-\(number)") }
                }
                try await group.waitForAll()
            }
            let refused = try await client.send(.get, "/stores/more/sandbox/v1/time")
            #expect((refused.status, refused.code) == (409, "storeLimitReached"))
            for number in [1, 100, 256] {
                #expect(try await client.sales(in: "/stores/suite-\(number)") == ["garden.gate"])
            }
            #expect(try await client.send(.get, "/sandbox/v1/time").status == 200)
            #expect(try await client.send(.delete, "/stores/suite-7/sandbox/v1/store").status == 204)
            #expect(try await client.sales(in: "/stores/more") == [])
            #expect(try await client.send(.get, "/stores/suite-7/sandbox/v1/time").code == "storeLimitReached")
        }
    }

    /// Anybody who reaches the store can send such requests.
    @Test func `requests without a key make no store`() async throws {
        try await withClient { client in
            for number in 1...300 {
                let path = "/stores/stranger-\(number)"
                #expect(try await client.send(.get, path + "/health/ready", key: nil).status == 204)
                let receipt = try await client.send(.post, path + "/verifyReceipt", "{}", key: nil)
                #expect(receipt.body.contains("21002"))
                for key in [nil, "other"] {
                    let time = try await client.send(.get, path + "/sandbox/v1/time", key: key)
                    #expect((time.status, time.code) == (401, "unauthenticated"))
                    #expect(try await client.send(.get, path + "/inApps/v1/transactions/1", key: key).status == 401)
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...256 {
                    group.addTask { try await client.buy("garden.gate", in: "/stores/suite-\(number)") }
                }
                try await group.waitForAll()
            }
            #expect(try await client.send(.get, "/stores/more/sandbox/v1/time").code == "storeLimitReached")
            #expect(try await client.send(.get, "/stores/more/sandbox/v1/time", key: nil).code == "unauthenticated")
        }
    }

    @Test func `requests that make a store at the same time meet in it`() async throws {
        try await withClient { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...20 { group.addTask { try await client.buy("garden.seeds", in: "/stores/a") } }
                try await group.waitForAll()
            }
            #expect(try await client.sales(in: "/stores/a").count == 20)
        }
    }

    @Test func `a store without a request for an hour is deleted`() async throws {
        let clock = garden.clock
        try await withClient { client in
            for name in ["a", "b"] { try await client.buy("garden.gate", in: "/stores/\(name)") }
            clock.advance(milliseconds: Self.hour - 1)
            #expect(try await client.sales(in: "/stores/a") == ["garden.gate"])
            clock.advance(milliseconds: 1)
            #expect(try await client.sales(in: "/stores/b") == [])
            clock.advance(milliseconds: Self.hour - 2)
            #expect(try await client.sales(in: "/stores/a") == ["garden.gate"])
            clock.advance(milliseconds: Self.hour)
            #expect(try await client.sales(in: "/stores/a") == [])
        }
    }

    @Test func `only a named store can be deleted`() async throws {
        try await withClient { client in
            try await client.buy("garden.gate", in: "")
            let refused = try await client.send(.delete, "/sandbox/v1/store")
            #expect((refused.status, refused.code) == (409, "invalidAction"))
            #expect(try await client.sales(in: "") == ["garden.gate"])
            try await client.buy("garden.gate", in: "/stores/a")
            #expect(try await client.send(.delete, "/stores/a/sandbox/v1/store", key: "other").status == 401)
            #expect(try await client.sales(in: "/stores/a") == ["garden.gate"])
            #expect(try await client.send(.delete, "/sandbox/v1/store", store: "a").status == 204)
            #expect(try await client.sales(in: "/stores/a") == [])
        }
    }
}
