import Ledger
import Proofs

/// The use cases of mail senders.
package struct MailQueue: Sendable {
    /// The lease of a mail, in seconds. After it, another sender may take the mail.
    static let lease: Int64 = 60
    /// The retention of sent and given-up mails and of expired links, in seconds.
    static let memory: Int64 = 7 * 86_400

    package let ledger: Ledger
    private let clock: any WallClock
    private let randomness: Randomness

    package init(ledger: Ledger, clock: any WallClock, randomness: Randomness) {
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
    }

    package func now() -> Timestamp { clock.now() }

    /// Takes due mails. The sender must send them and record the results.
    package func lease(upTo limit: Int) async throws -> [LeasedMail] {
        let now = clock.now()
        let due = try await ledger.read { try $0.dueMails(at: now, limit: limit) }
        guard !due.isEmpty else { return [] }
        return try await ledger.write { try $0.lease(due, at: now, until: now.adding(seconds: Self.lease)) }
    }

    /// The result of an attempt that ends now.
    package func result(of mail: QueuedMail, _ outcome: MailOutcome) -> MailResult {
        MailResult(of: mail, outcome, at: clock.now(), randomness: randomness)
    }

    package func record(_ results: [MailResult]) async throws {
        try await ledger.write { try $0.record(results) }
    }

    /// Deletes old mails and links.
    package func deleteExpired() async throws {
        let now = clock.now()
        try await ledger.write { try $0.deleteMails(before: now.adding(seconds: -Self.memory), at: now) }
    }
}
