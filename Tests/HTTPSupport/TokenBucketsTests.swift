import Commerce
import HTTPSupport
import Testing
import TestSupport

@Suite struct TokenBucketsTests {
    private let clock = ManualClock()

    /// A table that grows with its callers would scan all of them for each new one.
    @Test(.timeLimit(.minutes(1))) func `the number of subjects changes neither the memory nor the time per subject`() {
        let buckets = TokenBuckets(.init(atOnce: 100, perMinute: 1), clock: clock)
        let time = ContinuousClock().measure {
            for number in 0..<200_000 { _ = buckets.take("caller \(number)") }
        }
        #expect(time < .seconds(5))
    }

    @Test func `a subject has its burst of tokens and its refill per minute`() {
        let buckets = TokenBuckets(.init(atOnce: 2, perMinute: 6), clock: clock)
        #expect(buckets.take("a") == nil)
        #expect(buckets.take("a") == nil)
        #expect(buckets.take("a") == 10)
        buckets.returnToken("a")
        #expect(buckets.take("a") == nil)
        clock.advance(milliseconds: 9_999)
        #expect(buckets.take("a") == 1)
        clock.advance(milliseconds: 1)
        #expect(buckets.take("a") == nil)
    }

    @Test func `a clock that jumps ahead refills one full bucket, and a clock set back refills nothing`() {
        let buckets = TokenBuckets(.init(atOnce: 1, perMinute: 1), clock: clock)
        #expect(buckets.take("a") == nil)
        clock.advance(milliseconds: -3_600_000)
        #expect(buckets.take("a") == 60)
        clock.advance(milliseconds: 1_000_000_000_000)
        #expect(buckets.take("a") == nil)
        #expect(buckets.take("a") == 60)
    }
}
