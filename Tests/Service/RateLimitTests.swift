import AppStore
import HTTPSupport
import Service
import TestSupport
import Testing

@Suite struct RateLimitTests {
    @Test func `a caller above its rate limit must wait`() async throws {
        var limits = RequestLimits()
        limits.perKey = 3
        let fixture = try await ServiceFixture(limits: limits)
        func status(key: String? = nil) async throws -> Int {
            try await fixture.send(.get, "/v1/users/alice/items", key: key).status
        }
        for _ in 0..<3 { #expect(try await status() == 200) }
        let refused = try await fixture.send(.get, "/v1/users/alice/items")
        #expect(refused.status == 429)
        #expect(refused.code == "tooManyRequests")
        #expect(refused.headers[.retryAfter] == "20")
        #expect(try refused.decoded(ProblemResource.self).couldSucceedLater)
        // Another key has a limit of its own. Health checks need none.
        let other = try await fixture.keys.make(name: "other", scopes: [.read]).key
        #expect(try await status(key: other) == 200)
        #expect(try await fixture.send(.get, "/health/live", key: "").status == 204)

        fixture.shop.clock.advance(milliseconds: 19_999)
        #expect(try await status() == 429)
        fixture.shop.clock.advance(milliseconds: 1)
        #expect(try await status() == 200)
        #expect(try await status() == 429)
        // A clock that is set back locks nobody out for longer than the minute.
        fixture.shop.clock.advance(milliseconds: -3_600_000)
        #expect(try await status() == 429)
        fixture.shop.clock.advance(milliseconds: 60_000)
        for _ in 0..<3 { #expect(try await status() == 200) }
        #expect(try await status() == 429)
    }
}
