import Entitlements
import Features
import Foundation
import Proofs
import Testing

/// The rules of mails and the links in them, without a ledger.
@Suite struct MailRuleTests {
    private static let now = Timestamp(secondsSince1970: 1_790_000_000)

    private static func later(_ seconds: Int64) -> Timestamp { now.adding(seconds: seconds) }

    // MARK: Links

    struct LinkCase: Sendable {
        let purpose: LinkPurpose
        let mailedTo: String
        let uses: Set<LinkPurpose>
        var seconds: Int64 = 0
        /// The new address of a pending change; nil for none.
        var changesTo: String?
        var hasAccount = true
        let refusal: AccountError?
    }

    @Test(arguments: [
        LinkCase(purpose: .verification, mailedTo: "a@b.example", uses: [.verification], refusal: nil),
        LinkCase(
            purpose: .verification, mailedTo: "a@b.example", uses: [.verification], seconds: 86_399, refusal: nil),
        LinkCase(
            purpose: .verification, mailedTo: "a@b.example", uses: [.verification], seconds: 86_400,
            refusal: .linkExpired),
        LinkCase(purpose: .reset, mailedTo: "a@b.example", uses: [.reset], seconds: 3599, refusal: nil),
        LinkCase(purpose: .reset, mailedTo: "a@b.example", uses: [.reset], seconds: 3600, refusal: .linkExpired),
        // A link is valid only for its purpose.
        LinkCase(purpose: .verification, mailedTo: "a@b.example", uses: [.reset], refusal: .linkInvalid),
        LinkCase(
            purpose: .reset, mailedTo: "a@b.example", uses: [.verification, .addressChange, .newAddress],
            refusal: .linkInvalid),
        // The account has another address now.
        LinkCase(purpose: .reset, mailedTo: "old@b.example", uses: [.reset], refusal: .linkInvalid),
        LinkCase(purpose: .verification, mailedTo: "old@b.example", uses: [.verification], refusal: .linkInvalid),
        LinkCase(purpose: .reset, mailedTo: "a@b.example", uses: [.reset], hasAccount: false, refusal: .linkInvalid),
        // The old address and the new one each have a link.
        LinkCase(
            purpose: .addressChange, mailedTo: "a@b.example", uses: [.addressChange], changesTo: "c@d.example",
            refusal: nil),
        LinkCase(
            purpose: .newAddress, mailedTo: "c@d.example", uses: [.newAddress], changesTo: "c@d.example", refusal: nil),
        LinkCase(
            purpose: .newAddress, mailedTo: "c@d.example", uses: [.newAddress], changesTo: "e@f.example",
            refusal: .linkInvalid),
        LinkCase(purpose: .newAddress, mailedTo: "a@b.example", uses: [.newAddress], refusal: .linkInvalid),
        LinkCase(purpose: .addressChange, mailedTo: "a@b.example", uses: [.addressChange], refusal: .linkInvalid),
        LinkCase(
            purpose: .newAddress, mailedTo: "c@d.example", uses: [.newAddress], seconds: 86_400,
            changesTo: "c@d.example", refusal: .linkExpired),
    ])
    func `a link is good for its purpose, its address and its time`(_ test: LinkCase) {
        let refusal = AccountLink(test.purpose, to: test.mailedTo, at: Self.now).refusal(
            for: test.uses, of: test.hasAccount ? "a@b.example" : nil, changingTo: test.changesTo,
            at: Self.later(test.seconds))
        #expect(refusal == test.refusal)
    }

    // MARK: Limits

    @Test(
        arguments: [
            (nil, 0, (now, 1)),
            ((now, 1), 10, (now, 2)),
            ((now, 4), 3599, (now, 5)),
            ((now, 5), 3599, nil),
            ((now, 5), 3600, (later(3600), 1)),
            // A clock that is set back makes nobody wait.
            ((later(9999), 5), 0, (now, 1)),
        ] as [(MailLimit.Count?, Int64, MailLimit.Count?)])
    func `an address gets five mails in an hour`(
        count: MailLimit.Count?,
        seconds: Int64,
        next: MailLimit.Count?
    ) {
        let found = MailLimit.adding(to: count, upTo: MailLimit.perAddress, at: Self.later(seconds))
        #expect(found?.beganAt == next?.beganAt && found?.mails == next?.mails)
    }

    // MARK: Attempts

    private static let least = Randomness { 0 }
    private static let most = Randomness { .max }

    @Test(arguments: zip(1...6, MailSchedule.delays))
    func `a mail is retried after a growing pause`(attempts: Int, pause: Int64) throws {
        let next = Self.now.retry(after: attempts, delays: MailSchedule.delays, randomness: Self.least)
        #expect(next == Self.later(pause))
        let latest = try #require(Self.now.retry(after: attempts, delays: MailSchedule.delays, randomness: Self.most))
        #expect(latest == Timestamp(millisecondsSince1970: Self.now.millisecondsSince1970 + pause * 1100))
    }

    @Test func `a mail is given up after two hours, or after a permanent refusal`() {
        #expect(MailSchedule.delays.reduce(0, +) < 2 * 3600)
        #expect(Self.now.retry(after: 7, delays: MailSchedule.delays, randomness: Self.least) == nil)
        func next(_ attempts: Int, _ outcome: MailOutcome) -> Timestamp? {
            outcome.nextAttempt(after: attempts, at: Self.now, randomness: Self.least)
        }
        #expect(next(1, .failed(code: "timedOut")) == Self.later(10))
        #expect(next(7, .failed(code: "timedOut")) == nil)
        #expect(next(1, .refused(code: "refused")) == nil)
        #expect(next(1, .sent) == nil)
    }

    // MARK: Pages

    @Test(arguments: [
        "https://garden.example/account", "https://garden.example/account?page=1", "garden://account",
        "http://localhost:3000/account", "http://127.0.0.1:3000",
    ])
    func `mails lead to a page of the team's`(text: String) throws {
        #expect(try #require(MailLinks(text)).url == text)
    }

    @Test(arguments: [
        "", "garden.example", "http://garden.example", "https://garden.example/#x", "https://user@garden.example",
        "javascript:alert(1)", "https://garden.example/a b", "https:///x", "file://host/x",
        "https://garden.example/" + String(repeating: "a", count: 1024),
    ])
    func `they lead nowhere else`(text: String) {
        #expect(MailLinks(text) == nil)
    }
}
