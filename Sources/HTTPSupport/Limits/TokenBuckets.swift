import Proofs
import Synchronization

/// Token buckets, one per subject. Each holds a number of tokens and is refilled evenly.
///
/// The memory has a fixed size. A hash with a secret seed assigns a bucket to each subject. Two subjects with the same
/// bucket share its tokens.
package final class TokenBuckets: Sendable {
    package struct Rate: Sendable {
        /// The number of tokens in a full bucket.
        package let atOnce: Int
        package let perMinute: Int
        /// The number of tokens in a new bucket.
        let atStart: Int

        package init(atOnce: Int, perMinute: Int, atStart: Int? = nil) {
            self.atOnce = atOnce
            self.perMinute = perMinute
            self.atStart = atStart ?? atOnce
        }

        /// The rate of tokens that last for a day. At least one token comes back each minute.
        ///
        /// A process that starts again does not know the tokens that were taken before, so it begins with few of them.
        package init(perDay: Int) {
            self.init(atOnce: perDay, perMinute: max(1, perDay / 1440), atStart: perDay / 128)
        }

        package static func * (rate: Rate, factor: Int) -> Rate {
            Rate(atOnce: rate.atOnce * factor, perMinute: rate.perMinute * factor, atStart: rate.atStart * factor)
        }
    }

    private struct Bucket {
        /// The number of missing tokens times 60,000. With this factor, each millisecond refills a whole number.
        var taken: Int64
        /// The time of the last refill, in milliseconds since 1970.
        var countedAt: Int64
    }

    private static let cost: Int64 = 60_000
    private static let places = 1 << 16

    package let rate: Rate
    private let clock: any WallClock
    private let buckets: Mutex<[Bucket]>

    package init(_ rate: Rate, clock: any WallClock) {
        self.rate = rate
        self.clock = clock
        let new = Bucket(
            taken: Int64(rate.atOnce - rate.atStart) * Self.cost, countedAt: clock.now().millisecondsSince1970)
        buckets = Mutex([Bucket](repeating: new, count: Self.places))
    }

    /// Takes tokens, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    package func take(_ subject: String, _ count: Int = 1) -> Int? {
        let cost = Int64(count) * Self.cost
        return change(subject) { bucket in
            let missing = bucket.taken + cost - Int64(rate.atOnce) * Self.cost
            guard missing > 0 else {
                bucket.taken += cost
                return nil
            }
            let perSecond = Int64(rate.perMinute) * 1000
            return Int((missing + perSecond - 1) / perSecond)
        }
    }

    /// Puts tokens back.
    package func returnToken(_ subject: String, times count: Int = 1) {
        change(subject) { $0.taken = max(0, $0.taken - Int64(count) * Self.cost) }
    }

    private func change<Value: Sendable>(_ subject: String, _ body: (inout Bucket) -> Value) -> Value {
        let now = clock.now().millisecondsSince1970
        let place = Int(UInt(bitPattern: ByteKey(subject).hashValue) % UInt(Self.places))
        return buckets.withLock { buckets in
            var bucket = buckets[place]
            // A clock that was set back refills nothing.
            let elapsed = bucket.taken == 0 ? 0 : max(0, now - bucket.countedAt)
            let refilled = elapsed.multipliedReportingOverflow(by: Int64(rate.perMinute))
            bucket.taken = refilled.overflow ? 0 : max(0, bucket.taken - refilled.partialValue)
            bucket.countedAt = now
            defer { buckets[place] = bucket }
            return body(&bucket)
        }
    }
}
