import Commerce
import HTTPSupport
import Testing
import TestSupport

@Suite struct TokenBucketsTests {
    private let clock = ManualClock()

    /// A table that grows with its callers would filter all of them for each new one.
    @Test(.timeLimit(.minutes(1))) func `any number of subjects takes the same memory, and time for each`() {
        let buckets = TokenBuckets(.init(atOnce: 100, perMinute: 1), clock: clock)
        let time = ContinuousClock().measure {
            for number in 0..<200_000 { _ = buckets.take("caller \(number)") }
        }
        #expect(time < .seconds(5))
    }

    @Test func `a subject has so many tokens at once, and so many again each minute`() {
        let buckets = TokenBuckets(.init(atOnce: 2, perMinute: 6), clock: clock)
        #expect(buckets.take("a") == nil)
        #expect(buckets.take("a") == nil)
        #expect(buckets.take("a") == 10)
        buckets.giveBack("a")
        #expect(buckets.take("a") == nil)
        clock.advance(milliseconds: 9_999)
        #expect(buckets.take("a") == 1)
        clock.advance(milliseconds: 1)
        #expect(buckets.take("a") == nil)
    }

    @Test func `a clock that jumps refills at most a full bucket, and set back refills nothing`() {
        let buckets = TokenBuckets(.init(atOnce: 1, perMinute: 1), clock: clock)
        #expect(buckets.take("a") == nil)
        clock.advance(milliseconds: -3_600_000)
        #expect(buckets.take("a") == 60)
        clock.advance(milliseconds: 1_000_000_000_000)
        #expect(buckets.take("a") == nil)
        #expect(buckets.take("a") == 60)
    }
}
