import Commerce
import Ledger

/// The use cases of those who send the queued mails.
public struct MailQueue: Sendable {
    /// The time for which a sender has a mail for itself, in seconds. After that, others may send it.
    static let lease: Int64 = 60
    /// The time for which mails that are done, and links that have ended, are kept, in seconds.
    static let memory: Int64 = 7 * 86_400

    public let ledger: Ledger
    private let clock: any WallClock
    private let randomness: Randomness

    public init(ledger: Ledger, clock: any WallClock, randomness: Randomness) {
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
    }

    public func now() -> Timestamp { clock.now() }

    /// Takes mails that are due: whoever takes them sends them, and records how that ended.
    public func take(upTo limit: Int) async throws -> [TakenMail] {
        let now = clock.now()
        let due = try await ledger.read { try $0.dueMails(at: now, limit: limit) }
        guard !due.isEmpty else { return [] }
        return try await ledger.write { try $0.take(due, at: now, until: now.adding(seconds: Self.lease)) }
    }

    /// The result of an attempt that has ended now.
    public func result(of mail: QueuedMail, _ outcome: MailOutcome) -> MailResult {
        MailResult(of: mail, outcome, at: clock.now(), randomness: randomness)
    }

    public func record(_ results: [MailResult]) async throws {
        try await ledger.write { try $0.record(results) }
    }

    /// Deletes what has ended long ago.
    public func forgetOld() async throws {
        let now = clock.now()
        try await ledger.write { try $0.forgetMails(before: now.adding(seconds: -Self.memory), at: now) }
    }
}
