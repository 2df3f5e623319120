import HTTPSupport
import Proofs
import TestSupport
import Testing

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

    @Test func `tokens are taken together or not at all`() {
        let buckets = TokenBuckets(.init(atOnce: 10, perMinute: 60), clock: clock)
        #expect(buckets.take("a", 11) == 1)
        #expect(buckets.take("a", 8) == nil)
        #expect(buckets.take("a", 4) == 2)
        #expect(buckets.take("a", 2) == nil)
        buckets.returnToken("a", times: 5)
        #expect(buckets.take("a", 6) == 1)
        #expect(buckets.take("a", 5) == nil)
    }

    @Test func `tokens of a day begin with a part of them and come back within the day`() {
        let buckets = TokenBuckets(.init(perDay: 1 << 20), clock: clock)
        #expect(buckets.take("a", 8193) != nil)
        #expect(buckets.take("a", 8192) == nil)
        #expect(buckets.take("a", 729) != nil)
        clock.advance(milliseconds: 25 * 3_600_000)
        #expect(buckets.take("a", 1 << 20) == nil)
        #expect(buckets.take("a") != nil)
        clock.advance(milliseconds: 12 * 3_600_000)
        #expect(buckets.take("a", 600_000) != nil)
        #expect(buckets.take("a", 500_000) == nil)
    }

    /// An address at its own limit takes nothing from the other networks of its site, and the other way round.
    @Test func `a site has the tokens of sixteen of its networks`() {
        let buckets = AddressBuckets(.init(atOnce: 3, perMinute: 1), clock: clock)
        func isLimited(site: Int) -> Bool {
            func network(_ number: Int) -> String { "32:1:13:184:0:\(site):0:\(number)" }
            for _ in 0..<100 { _ = buckets.take(from: network(0)) }
            let isGranted = (1..<16).allSatisfy { buckets.take(3, from: network($0)) == nil }
            return isGranted && buckets.take(from: network(16)) != nil
        }
        // Two subjects share a place by chance: two of one site once in 500 sites, two of the addresses once in 13 runs.
        #expect((1...5).count(where: isLimited) >= 4)
        let granted = (0..<100).count { buckets.take(3, from: "192.0.2.\($0)") == nil }
        #expect(granted >= 90)
    }
}
