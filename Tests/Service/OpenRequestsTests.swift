import AppStore
import HTTPSupport
import HTTPTypes
import Ledger
import Service
import Testing

@Suite struct OpenRequestsTests {
    private static func network(_ address: String) -> ClientNetwork { ClientNetwork(forwarded: address) }

    @Test func `the limit of concurrent requests applies to each address`() {
        let requests = OpenRequests(NetworkCounts(ofHost: 2, ofSite: 100))
        let (first, second) = (Self.network("192.0.2.1"), Self.network("192.0.2.2"))
        #expect(requests.begin(from: first))
        #expect(requests.begin(from: first))
        #expect(!requests.begin(from: first))
        #expect(requests.begin(from: second))
        requests.end(from: first)
        #expect(requests.begin(from: first))
        #expect(!requests.begin(from: first))
    }

    @Test(arguments: [
        ((0..<256).map { "192.0.2.\($0)" }, 8),
        ((0..<256).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" }, 8),
        // An IPv6 /56.
        ((0..<256).map { "2001:db8:1:\(String($0, radix: 16))::1" }, 4),
    ])
    func `the addresses of one site share its limit`(addresses: [String], limit: Int) {
        let requests = OpenRequests(NetworkCounts(ofHost: 2, of: 32))
        #expect(addresses.count { requests.begin(from: Self.network($0)) } == limit)
        #expect(requests.begin(from: Self.network("198.51.100.1")))
        requests.end(from: Self.network(addresses[0]))
        #expect(requests.begin(from: Self.network(addresses[255])))
        #expect(!requests.begin(from: Self.network(addresses[255])))
    }

    @Test func `behind a proxy the forwarded address is limited, and again free after each request`() async throws {
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        let none = try await ServiceFixture(proxies: 1, requests: NetworkCounts(ofHost: 0, ofSite: 0))
        let refused = try await none.send(.get, "/health/live", key: "", headers: [name: "192.0.2.1"])
        #expect(refused.status == 503)
        #expect(refused.code == "tooBusy")
        let one = try await ServiceFixture(proxies: 1, requests: NetworkCounts(ofHost: 1, ofSite: 1))
        for _ in 0..<3 {
            let answer = try await one.send(.get, "/health/live", key: "", headers: [name: "192.0.2.1"])
            #expect(answer.status == 204)
        }
    }
}
