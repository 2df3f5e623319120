import AppStore
import Console
import HTTPSupport
import HTTPTypes
import TestSupport
import Testing

/// The events that tell browsers of changes in the local store.
@Suite(.timeLimit(.minutes(10))) struct LocalStoreStreamTests {
    private static let path = "/console/store/stream"

    /// The number of events `change` in the text of a stream.
    private static func changes(_ page: Browser.Page) -> Int {
        page.text.matches(of: /event: change\ndata: {}\n\n/).count
    }

    @Test func `a stream has an event after a commit, and ends with the service`() async throws {
        let fixture = try await LocalStoreFixture()
        let streams = try #require(fixture.streams)
        let browser = try await fixture.browser(.support)
        async let stream = browser.get(Self.path)
        await expectEventually { streams.open.count == 1 }
        _ = try fixture.store.advance(seconds: 60)
        streams.close()
        let page = try await stream
        #expect(page.status == 200)
        #expect(page.headers[.contentType] == "text/event-stream")
        #expect(page.text.prefixMatch(of: /retry: \d+\nid: 1\n\n/) != nil)
        #expect(Self.changes(page) == 1)
        await expectEventually { streams.open.count == 0 }
        // The service no longer observes the store.
        #expect(fixture.store.observerCount == 0)
    }

    @Test func `a wake-up without a change has no event`() async throws {
        let fixture = try await LocalStoreFixture()
        let streams = try #require(fixture.streams)
        let browser = try await fixture.browser(.support)
        async let stream = browser.get(Self.path)
        await expectEventually { streams.open.count == 1 }
        streams.open.wake()
        streams.close()
        #expect(Self.changes(try await stream) == 0)
    }

    @Test func `a stream ends with the session, and sends nothing after it`() async throws {
        let fixture = try await LocalStoreFixture()
        let streams = try #require(fixture.streams)
        let browser = try await fixture.browser(.support)
        async let stream = browser.get(Self.path)
        await expectEventually { streams.open.count == 1 }
        try await fixture.team.remove("support")
        _ = try fixture.store.advance(seconds: 60)
        #expect(Self.changes(try await stream) == 0)
    }

    @Test func `a browser that connects again learns of a change at once`() async throws {
        let fixture = try await LocalStoreFixture()
        let streams = try #require(fixture.streams)
        let browser = try await fixture.browser(.support)
        let lastEvent = try #require(HTTPField.Name.lastEventID)
        async let stream = browser.get(Self.path, headers: [lastEvent: "1"])
        await expectEventually { streams.open.count == 1 }
        streams.close()
        #expect(Self.changes(try await stream) == 1)
    }

    @Test func `the number of streams is limited, and a new one ends the oldest`() async throws {
        let fixture = try await LocalStoreFixture()
        let streams = try #require(fixture.streams)
        let browser = try await fixture.browser(.support)
        let limit = LiveStreams.maximumPerMember
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0...limit { group.addTask { try await browser.get(Self.path).status } }
            #expect(try await group.next() == 200)
            // One observation serves all streams.
            #expect(fixture.store.observerCount == 1)
            streams.close()
            var count = 1
            while let status = try await group.next() {
                #expect(status == 200)
                count += 1
            }
            #expect(count == limit + 1)
        }
    }

    @Test func `a visitor gets no stream`() async throws {
        let fixture = try await LocalStoreFixture()
        #expect(try await Browser(routes: fixture.routes).get(Self.path).status == 303)
        #expect(fixture.streams?.open.count == 0)
    }
}
