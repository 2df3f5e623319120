import AppStore
import HTTPSupport
import HTTPTypes
import Service
import Testing

@Suite struct OpenRequestsTests {
    @Test func `the limit of concurrent requests applies to each address`() {
        let requests = OpenRequests()
        #expect(requests.begin(from: "a", upTo: 2))
        #expect(requests.begin(from: "a", upTo: 2))
        #expect(!requests.begin(from: "a", upTo: 2))
        #expect(requests.begin(from: "b", upTo: 2))
        requests.end(from: "a")
        #expect(requests.begin(from: "a", upTo: 2))
        #expect(!requests.begin(from: "a", upTo: 2))
    }

    @Test func `behind a proxy the forwarded address is limited, and again free after each request`() async throws {
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        let none = try await ServiceFixture(proxies: 1, requestsPerAddress: 0)
        let refused = try await none.send(.get, "/health/live", key: "", headers: [name: "192.0.2.1"])
        #expect(refused.status == 503)
        #expect(refused.code == "tooBusy")
        let one = try await ServiceFixture(proxies: 1, requestsPerAddress: 1)
        for _ in 0..<3 {
            let answer = try await one.send(.get, "/health/live", key: "", headers: [name: "192.0.2.1"])
            #expect(answer.status == 204)
        }
    }
}
