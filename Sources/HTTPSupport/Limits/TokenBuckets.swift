import Ledger
import Proofs
import Synchronization

/// Token buckets, one per subject. Each holds a number of tokens and is refilled evenly.
///
/// The number of places is fixed. A hash with a secret seed assigns one to each subject. Two subjects with the same place share its
/// tokens.
package final class TokenBuckets: Sendable {
    /// The holder of a bucket: a name, a client network, or one for the other.
    package struct Subject: Hashable, Sendable {
        private let name: ByteKey
        private let network: ClientNetwork?

        package init(_ name: String, in network: ClientNetwork? = nil) {
            (self.name, self.network) = (ByteKey(name), network)
        }
    }

    private struct Bucket {
        /// The number of missing tokens times the interval. With this factor, each millisecond refills a whole number.
        var taken: Int64
        /// The time of the last refill, in milliseconds since 1970.
        var countedAt: Int64
    }

    private static let places = 1 << 16
    private static let placesOfChunk = 1 << 8

    package let rate: Rate
    private let clock: any WallClock
    private let new: Bucket
    /// The places. A chunk of them is empty until a subject needs it.
    private let chunks: Mutex<[[Bucket]]>

    package init(_ rate: Rate, clock: any WallClock) {
        self.rate = rate
        self.clock = clock
        new = Bucket(
            taken: Int64(rate.atOnce - rate.atStart) * rate.interval, countedAt: clock.now().millisecondsSince1970)
        chunks = Mutex([[Bucket]](repeating: [], count: Self.places / Self.placesOfChunk))
    }

    /// Takes tokens, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    package func take(_ subject: Subject, _ count: Int = 1) -> Int? {
        let cost = Int64(count) * rate.interval
        return change(subject) { bucket in
            let missing = bucket.taken + cost - Int64(rate.atOnce) * rate.interval
            guard missing > 0 else {
                bucket.taken += cost
                return nil
            }
            let perSecond = Int64(rate.refill) * 1000
            return Int((missing + perSecond - 1) / perSecond)
        }
    }

    package func take(_ name: String, _ count: Int = 1) -> Int? { take(Subject(name), count) }

    /// Takes the tokens that there are, up to a number.
    ///
    /// - Returns: The number of taken tokens.
    package func drain(_ subject: Subject, upTo count: Int) -> Int {
        change(subject) { bucket in
            let left = Int64(rate.atOnce) - (bucket.taken + rate.interval - 1) / rate.interval
            let drained = min(Int64(count), max(0, left))
            bucket.taken += drained * rate.interval
            return Int(drained)
        }
    }

    package func returnToken(_ subject: Subject, times count: Int = 1) {
        change(subject) { $0.taken = max(0, $0.taken - Int64(count) * rate.interval) }
    }

    package func returnToken(_ name: String, times count: Int = 1) { returnToken(Subject(name), times: count) }

    /// True if no token of a subject is missing.
    package func isFull(_ subject: Subject) -> Bool { change(subject) { $0.taken == 0 } }

    private func change<Value: Sendable>(_ subject: Subject, _ body: (inout Bucket) -> Value) -> Value {
        let now = clock.now().millisecondsSince1970
        let place = Int(UInt(bitPattern: subject.hashValue) % UInt(Self.places))
        let (chunk, index) = place.quotientAndRemainder(dividingBy: Self.placesOfChunk)
        return chunks.withLock { chunks in
            if chunks[chunk].isEmpty { chunks[chunk] = [Bucket](repeating: new, count: Self.placesOfChunk) }
            var bucket = chunks[chunk][index]
            // A clock that was set back refills nothing.
            let elapsed = bucket.taken == 0 ? 0 : max(0, now - bucket.countedAt)
            let refilled = elapsed.multipliedReportingOverflow(by: Int64(rate.refill))
            bucket.taken = refilled.overflow ? 0 : max(0, bucket.taken - refilled.partialValue)
            bucket.countedAt = now
            defer { chunks[chunk][index] = bucket }
            return body(&bucket)
        }
    }

    /// The size of a token bucket, and the rate at which it is refilled.
    package struct Rate: Sendable {
        private static let minute: Int64 = 60_000

        /// The number of tokens in a full bucket.
        package let atOnce: Int
        /// The number of tokens in a new bucket.
        let atStart: Int
        /// The number of tokens that come back in an interval.
        let refill: Int
        /// The interval in milliseconds.
        let interval: Int64

        package init(atOnce: Int, perMinute: Int, atStart: Int? = nil) {
            self.init(atOnce: atOnce, refill: perMinute, interval: Self.minute, atStart: atStart ?? atOnce)
        }

        private init(atOnce: Int, refill: Int, interval: Int64, atStart: Int) {
            (self.atOnce, self.refill, self.interval, self.atStart) = (atOnce, refill, interval, atStart)
        }

        /// The rate of tokens that last for a day.
        ///
        /// A process that starts again does not know the tokens that were taken before, so it begins with few of them.
        ///
        /// - Parameter part: The bucket begins with one part in this number.
        package init(perDay: Int, startingWithOnePartIn part: Int = 128) {
            // A day as the interval would overflow with a budget of a terabyte.
            let isLarge = perDay >= 1440
            self.init(
                atOnce: perDay, refill: isLarge ? perDay / 1440 : perDay,
                interval: isLarge ? Self.minute : Self.minute * 1440, atStart: perDay / part)
        }

        /// The tokens of a minute, rounded down.
        package var perMinute: Int { Int(Int64(refill) * Self.minute / interval) }

        package static func * (rate: Rate, factor: Int) -> Rate { rate.part(factor, of: 1) }

        func part(_ count: Int, of whole: Int) -> Rate {
            Rate(
                atOnce: max(1, atOnce * count / whole), refill: refill * count, interval: interval * Int64(whole),
                atStart: atStart * count / whole)
        }

        /// The rate with another number of tokens in a new bucket, which is full at most.
        func starting(with count: Int) -> Rate {
            Rate(atOnce: atOnce, refill: refill, interval: interval, atStart: min(atOnce, count))
        }

        /// The rate with the smaller bucket, refilled as slowly as the slower one.
        func limited(to other: Rate) -> Rate {
            let isSlower = Int64(refill) * other.interval <= Int64(other.refill) * interval
            let slower = isSlower ? self : other
            return Rate(
                atOnce: min(atOnce, other.atOnce), refill: slower.refill, interval: slower.interval,
                atStart: min(atStart, other.atStart))
        }
    }
}
