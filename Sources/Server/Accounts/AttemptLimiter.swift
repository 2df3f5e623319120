import Commerce
import Hummingbird
import Synchronization

/// How often anybody may try something for which no caller has to be known: so often at once, and so often again in each
/// minute, evenly.
///
/// Whoever tries may call themselves what they like, so the memory for them is of one size: each subject has its place by a
/// hash that no stranger knows, and two that meet there share what they have.
final class AttemptLimiter: Sendable {
    struct Rate: Sendable {
        let atOnce: Int
        let perMinute: Int
    }

    private struct Allowance {
        /// In attempts times 60,000, so that a millisecond refills a whole number of them.
        var taken: Int64 = 0
        /// Milliseconds since 1970.
        var countedAt: Int64 = 0
    }

    private static let cost: Int64 = 60_000
    private static let places = 1 << 16

    private let rate: Rate
    private let clock: any WallClock
    private let allowances = Mutex([Allowance](repeating: Allowance(), count: places))

    init(_ rate: Rate, clock: any WallClock) {
        self.rate = rate
        self.clock = clock
    }

    /// Counts an attempt.
    ///
    /// - Throws: `Problem`, `tooManyAttempts`.
    func count(_ subject: String) throws(Problem) {
        let seconds = change(subject) { allowance -> Int? in
            let missing = allowance.taken + Self.cost - Int64(rate.atOnce) * Self.cost
            guard missing > 0 else {
                allowance.taken += Self.cost
                return nil
            }
            let perSecond = Int64(rate.perMinute) * 1000
            return Int((missing + perSecond - 1) / perSecond)
        }
        if let seconds { throw .tooManyAttempts(seconds: seconds) }
    }

    /// Takes an attempt for none, since it was rightful.
    func giveBack(_ subject: String) {
        change(subject) { $0.taken = max(0, $0.taken - Self.cost) }
    }

    private func change<Value: Sendable>(_ subject: String, _ body: (inout Allowance) -> Value) -> Value {
        let now = clock.now().millisecondsSince1970
        let place = Int(UInt(bitPattern: subject.hashValue) % UInt(Self.places))
        return allowances.withLock { allowances in
            var allowance = allowances[place]
            // A clock that was set back refills nothing; what was never counted has nothing to refill.
            let elapsed = allowance.taken == 0 ? 0 : max(0, now - allowance.countedAt)
            let refilled = elapsed.multipliedReportingOverflow(by: Int64(rate.perMinute))
            allowance.taken = refilled.overflow ? 0 : max(0, allowance.taken - refilled.partialValue)
            allowance.countedAt = now
            defer { allowances[place] = allowance }
            return body(&allowance)
        }
    }
}

extension Problem {
    fileprivate static func tooManyAttempts(seconds: Int) -> Problem {
        Problem(
            status: .tooManyRequests, code: "tooManyAttempts",
            detail: "This was tried too often: wait \(seconds) seconds.", couldSucceedLater: true, retryAfter: seconds)
    }
}
