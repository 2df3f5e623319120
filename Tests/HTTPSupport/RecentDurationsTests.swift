import HTTPSupport
import Testing

@Suite struct RecentDurationsTests {
    private let recent = RecentDurations()

    @Test func `no durations have no quantiles`() {
        let summary = recent.summary(ofMinutes: 15)
        #expect(summary.count == 0)
        #expect(summary.median == nil && summary.percentile99 == nil && summary.maximum == nil)
    }

    @Test func `a quantile is at most an eighth too high`() throws {
        for milliseconds in 1...1000 { recent.record(.milliseconds(milliseconds)) }
        let summary = recent.summary(ofMinutes: 1)
        #expect(summary.count == 1000)
        #expect((.milliseconds(500)...(.microseconds(562_500))).contains(try #require(summary.median)))
        #expect((.milliseconds(990)...(.milliseconds(1000))).contains(try #require(summary.percentile99)))
        #expect(summary.maximum == .milliseconds(1000))
    }

    @Test(arguments: [Duration.zero, .nanoseconds(1), .microseconds(1), .microseconds(3), .seconds(59), .seconds(7200)])
    func `any duration has a quantile that is not below it`(duration: Duration) throws {
        recent.record(duration)
        let summary = recent.summary(ofMinutes: 1)
        #expect(summary.maximum == duration)
        #expect(summary.median == duration)
    }

    @Test func `earlier minutes are left out, and then forgotten`() {
        let start = ContinuousClock.now
        recent.record(.seconds(5), at: start)
        recent.record(.seconds(1), at: start + .seconds(180))
        #expect(recent.summary(ofMinutes: 1, at: start + .seconds(185)).count == 1)
        #expect(recent.summary(ofMinutes: 15, at: start + .seconds(185)).count == 2)
        #expect(recent.summary(ofMinutes: 15, at: start + .seconds(17 * 60)).count == 1)
        // The ring has come round.
        recent.record(.seconds(2), at: start + .seconds(16 * 60))
        #expect(recent.summary(ofMinutes: 15, at: start + .seconds(16 * 60)).count == 2)
        #expect(recent.summary(ofMinutes: 15, at: start + .seconds(60 * 60)).count == 0)
    }
}
