import HTTPSupport
import HTTPTypes
import Store
import TestSupport
import Testing

/// The events that tell browsers of changes in the local store.
@Suite(.timeLimit(.minutes(10))) struct LocalStoreStreamTests {
    private static let path = "/console/store/stream"

    @Test func `a stream has an event after a commit, and ends with the session`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        async let stream = browser.get(Self.path)
        await expectEventually { fixture.store.observerCount == 1 }
        // The stream checks the session after the event.
        try await fixture.team.remove("support")
        _ = try fixture.store.advance(seconds: 60)
        let page = try await stream
        #expect(page.status == 200)
        #expect(page.headers[.contentType] == "text/event-stream")
        #expect(page.text.hasPrefix("retry: 2000\nid: 1\n\n"))
        #expect(page.text.matches(of: /event: change\ndata: {}\n\n/).count == 1)
        await expectEventually { fixture.store.observerCount == 0 }
    }

    @Test func `a browser that connects again learns of a change at once`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let lastEvent = try #require(HTTPField.Name.lastEventID)
        async let stream = browser.get(Self.path, headers: [lastEvent: "1"])
        await expectEventually { fixture.store.observerCount == 1 }
        try await fixture.team.remove("support")
        #expect(try await stream.has("event: change"))
    }

    @Test func `the number of streams is limited, and a new one ends the oldest`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0...32 { group.addTask { try await browser.get(Self.path).status } }
            #expect(try await group.next() == 200)
            // One observation serves all streams.
            #expect(fixture.store.observerCount == 1)
            try await fixture.team.remove("support")
            _ = try fixture.store.advance(seconds: 60)
            var count = 1
            while let status = try await group.next() {
                #expect(status == 200)
                count += 1
            }
            #expect(count == 33)
        }
    }

    @Test func `a visitor gets no stream`() async throws {
        let fixture = try await LocalStoreFixture()
        #expect(try await Browser(routes: fixture.routes).get(Self.path).status == 303)
        #expect(fixture.store.observerCount == 0)
    }
}
