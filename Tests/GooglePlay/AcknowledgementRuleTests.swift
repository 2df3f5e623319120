import Entitlements
import Proofs
import TestSupport
import Testing

/// The times of the attempts to acknowledge a purchase, without a database.
@Suite struct AcknowledgementRuleTests {
    private static let start = Timestamp(secondsSince1970: 1_790_000_000)

    /// The pauses in seconds after each of some attempts that fail at once.
    private func pauses(_ count: Int, before seconds: Int64) -> [Int64] {
        var acknowledgement = GooglePurchase.Acknowledgement(
            deadline: Self.start.adding(seconds: seconds), nextAttemptAt: Self.start)
        return (0..<count).map { _ in
            let moment = acknowledgement.nextAttemptAt
            acknowledgement = acknowledgement.attempted(at: moment)
            return acknowledgement.nextAttemptAt.secondsSince1970 - moment.secondsSince1970
        }
    }

    @Test func `the pauses double up to an hour`() {
        #expect(pauses(10, before: 3 * 86_400) == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600])
    }

    @Test func `a short deadline has several attempts`() {
        let pauses = pauses(12, before: 180)
        #expect(pauses.prefix(5) == [10, 20, 37, 28, 21])
        #expect(pauses.reduce(0, +) >= 180)
        #expect(pauses.allSatisfy { $0 >= 10 })
    }

    @Test func `attempts go on after the deadline, an hour apart`() {
        var acknowledgement = GooglePurchase.Acknowledgement(
            deadline: Self.start.adding(days: -1), attempts: 40, nextAttemptAt: Self.start)
        acknowledgement = acknowledgement.attempted(at: Self.start)
        #expect(acknowledgement.attempts == 41)
        #expect(acknowledgement.nextAttemptAt == Self.start.adding(seconds: 3600))
    }

    @Test(arguments: [(0, 1), (60, 6), (3600, 360), (86_400, 3600)] as [(Int64, Int64)])
    func `a purchase that nobody redeems is looked at ever more rarely`(age: Int64, pause: Int64) {
        let acknowledgement = GooglePurchase.Acknowledgement(
            deadline: Self.start.adding(days: 3), nextAttemptAt: Self.start)
        let next = acknowledgement.awaitingRedemption(since: Self.start.adding(seconds: -age), at: Self.start)
        #expect(next.nextAttemptAt == Self.start.adding(seconds: pause))
        #expect(next.attempts == 0)
    }
}
