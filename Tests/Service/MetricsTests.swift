import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

@Suite struct MetricsTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    /// The values by name and labels, parsed from Prometheus's text format.
    private func metrics(of fixture: ServiceFixture) async throws -> [String: Double] {
        let answer = try await fixture.send(.get, "/metrics")
        #expect(answer.status == 200)
        #expect(answer.contentType == "text/plain; version=0.0.4; charset=utf-8")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.hasSuffix("\n"))
        let line = /(?<series>[a-z_]+(\{([a-z]+="[^"]*",?)*\})?) (?<value>[0-9.e+-]+)/
        var values: [String: Double] = [:]
        for piece in text.split(separator: "\n") where !piece.hasPrefix("#") {
            let match = try #require(try line.wholeMatch(in: piece), "\(piece)")
            #expect(values.updateValue(try #require(Double(match.value)), forKey: String(match.series)) == nil)
        }
        return values
    }

    @Test func `requests and outcomes are counted`() async throws {
        let bought = try fixture.buy("sprout1")
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        for proof in [signed, signed, "x"] {
            _ = try await fixture.send(
                .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(proof)\"}")
        }
        _ = try await fixture.send(.post, "/v1/notifications/apple", body: "{\"signedPayload\":\"\(signed)\"}", key: "")
        _ = try await fixture.send(.get, "/secret/alice", key: "")
        let brew = try #require(HTTPRequest.Method("BREW"))
        _ = try await fixture.send(brew, "/v1/users/alice/items")

        let values = try await metrics(of: fixture)
        #expect(values["till_redemptions_total{outcome=\"granted\",code=\"\"}"] == 1)
        #expect(values["till_redemptions_total{outcome=\"unchanged\",code=\"\"}"] == 1)
        #expect(values["till_redemptions_total{outcome=\"refused\",code=\"encodingInvalid\"}"] == 1)
        #expect(values["till_notifications_total{outcome=\"refused\",code=\"noNotification\"}"] == 1)
        let route = "route=\"/v1/users/{user}/transactions\""
        #expect(values["till_http_requests_total{method=\"POST\",\(route),status=\"200\"}"] == 2)
        #expect(values["till_http_requests_total{method=\"POST\",\(route),status=\"422\"}"] == 1)
        #expect(values["till_http_request_seconds_count{\(route)}"] == 3)
        #expect(values["till_http_requests_total{method=\"GET\",route=\"NotFound\",status=\"404\"}"] == 1)
        #expect(values["till_http_requests_total{method=\"other\",route=\"NotFound\",status=\"405\"}"] == 1)
        #expect(values["till_verify_seconds_count"] == 4)
        #expect(values["till_commit_seconds_count"] == 2)
        #expect(values["till_commit_seconds_bucket{le=\"+Inf\"}"] == 2)
        // Other tests share the threads of the process.
        #expect(values["till_queue_depth"] != nil)
        #expect(!values.keys.contains { $0.contains("alice") })
        let buckets = values.filter { $0.key.hasPrefix("till_verify_seconds_bucket") }
        #expect(buckets.count == 16)
        #expect(buckets.values.allSatisfy { $0 <= 4 })
        #expect(try #require(values["till_verify_seconds_sum"]) > 0)
    }

    @Test func `fields in an unknown form are counted by their names`() {
        let metrics = ServiceMetrics()
        metrics.recordVerification(.zero, unreadable: ["price", "currency"])
        metrics.recordVerification(.zero, unreadable: ["price"])
        let text = metrics.text(queueDepth: 0)
        #expect(text.contains("till_unreadable_fields_total{field=\"price\"} 2\n"))
        #expect(text.contains("till_unreadable_fields_total{field=\"currency\"} 1\n"))
    }

    @Test func `reading the metrics needs the scope`() async throws {
        let key = try await fixture.keys.make(name: "shop", scopes: [.read, .redeem, .grant]).key
        #expect(try await fixture.send(.get, "/metrics", key: key).code == "scopeMissing")
        #expect(try await fixture.send(.get, "/metrics", key: "").code == "unauthenticated")
    }

    @Test func `notifications with an unknown chain above the limit get a retryable refusal`() async throws {
        let full = try await ServiceFixture(maximumUncachedChains: 0)
        let answer = try await full.send(.post, "/v1/notifications/apple", body: "{\"signedPayload\":\"x\"}", key: "")
        #expect(answer.status == 503)
        #expect(answer.code == "tooBusy")
        #expect(answer.headers[.retryAfter] == "1")
        // Each request frees its place, regardless of its outcome.
        let one = try await ServiceFixture(maximumUncachedChains: 1)
        for _ in 0..<3 {
            let refused = try await one.send(
                .post, "/v1/notifications/apple", body: "{\"signedPayload\":\"x\"}", key: "")
            #expect(refused.code == "encodingInvalid")
        }
    }
}
