import HTTPSupport
import Ledger
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

    @Test func `as many tokens are drained as there are`() {
        let buckets = TokenBuckets(.init(atOnce: 10, perMinute: 1), clock: clock)
        let subject = TokenBuckets.Subject("a")
        #expect(buckets.isFull(subject))
        #expect(buckets.drain(subject, upTo: 7) == 7)
        #expect(buckets.drain(subject, upTo: 7) == 3)
        #expect(buckets.drain(subject, upTo: 7) == 0)
        clock.advance(milliseconds: 119_999)
        #expect(buckets.drain(subject, upTo: 7) == 1)
        #expect(!buckets.isFull(subject))
        clock.advance(milliseconds: 600_000)
        #expect(buckets.isFull(subject))
    }

    @Test func `a few tokens of a day come back within the day`() {
        let buckets = TokenBuckets(.init(perDay: 3, startingWithOnePartIn: 1), clock: clock)
        #expect(buckets.take("a", 3) == nil)
        #expect(buckets.take("a") == 28_800)
        clock.advance(milliseconds: 28_800_000)
        #expect(buckets.take("a") == nil)
        #expect(buckets.take("a") != nil)
    }

    /// A host at its own limit takes nothing from the others of its site, and the other way round.
    @Test(arguments: [
        (0...16).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" }, (0...16).map { "192.0.2.\($0)" },
    ])
    func `a site has the tokens of sixteen hosts`(addresses: [String]) {
        let hosts = addresses.map { ClientNetwork(forwarded: $0) }
        func isLimited(_ subject: String) -> Bool {
            let buckets = NetworkBuckets(.init(atOnce: 3, perMinute: 1), clock: clock)
            for _ in 0..<100 { _ = buckets.take(from: hosts[0], for: subject) }
            let isGranted = hosts[1...15].allSatisfy { buckets.take(3, from: $0, for: subject) == nil }
            return isGranted && buckets.take(from: hosts[16], for: subject) != nil
        }
        // Two subjects share a place by chance, two of one site once in 500 sites.
        #expect((1...5).count { isLimited("\($0)") } >= 4)
    }
}
