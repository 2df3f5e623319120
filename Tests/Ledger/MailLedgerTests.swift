import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The queue of mails and the links in them, in either database.
@Suite struct MailLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let clock = ManualClock(now)

    init() throws {
        fixture = try LedgerFixture()
    }

    private var accounts: AccountService { get throws { try accounts(ledger) } }

    private func accounts(_ ledger: Ledger) throws -> AccountService {
        AccountService(ledger: ledger, clock: clock, templates: try MailTemplates(), cost: .minimal)
    }

    private func queue(_ ledger: Ledger) throws -> MailQueue {
        try accounts(ledger).mails
    }

    private func open(_ email: String) async throws -> User {
        let email = try EmailAddress(email)
        return try await accounts.open(email, passwordHash: "h").account.user
    }

    private func mails(about user: User) async throws -> [QueuedMail] {
        try await ledger.read { try $0.mails(about: user) }
    }

    @Test func `one of two services sends a mail until its lease ends`() async throws {
        let user = try await open("mint@example.com")
        let (here, there) = (try queue(ledger), try queue(try fixture.again()))
        let due = try await there.due(upTo: 9)
        let first = try await here.lease(upTo: 9)
        #expect(first.map(\.mail.attempts) == [1])
        #expect(try await there.lease(upTo: 9).isEmpty)
        // A service that read the queue earlier is too late.
        #expect(try await there.lease(due).isEmpty)
        clock.advance(milliseconds: 60_000)
        let second = try await there.lease(upTo: 9)
        #expect(second.map(\.mail.identifier) == first.map(\.mail.identifier))
        #expect(second[0].mail.attempts == 2)
        // The result of the expired lease changes nothing.
        try await here.record([here.result(of: first[0].mail, .refused(code: "refused"))])
        #expect(try await mails(about: user).map(\.nextAttemptAt) == [second[0].mail.nextAttemptAt])
        try await there.record([there.result(of: second[0].mail, .sent)])
        let sent = try #require(try await mails(about: user).first)
        #expect(sent.nextAttemptAt == nil)
        #expect(sent.sentAt == clock.now())
        #expect(sent.lastError == nil)
        #expect(try fixture.problems() == [])
    }

    @Test func `each attempt has its own link, and each link is valid`() async throws {
        let user = try await open("mint@example.com")
        let queue = try queue(ledger)
        let first = try #require(try await queue.lease(upTo: 1).first)
        try await queue.record([queue.result(of: first.mail, .failed(code: "timedOut"))])
        #expect(try await mails(about: user).first?.lastError == "timedOut")
        #expect(try await queue.lease(upTo: 1).isEmpty)
        clock.advance(milliseconds: 12_000)
        let second = try #require(try await queue.lease(upTo: 1).first)
        #expect(first.token != second.token)
        // The first mail arrived although its attempt failed.
        #expect(try await accounts.confirm(first.token.text) == .verified)
        await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(second.token.text) }
    }

    @Test func `a mail that was not sent for hours is given up`() async throws {
        let user = try await open("a@example.com")
        clock.advance(milliseconds: 3 * 3_600_000 + 1)
        #expect(try await queue(ledger).lease(upTo: 9).isEmpty)
        let mail = try #require(try await mails(about: user).first)
        #expect(mail.nextAttemptAt == nil)
        #expect(mail.lastError == "tooOld")
    }

    @Test func `a mail that is refused, or failed too often, is given up`() async throws {
        let (refused, failed) = (try await open("a@example.com"), try await open("b@example.com"))
        let queue = try queue(ledger)
        var attempts = 0
        while true {
            let leased = try await queue.lease(upTo: 9)
            if leased.isEmpty { break }
            attempts += leased.count
            try await queue.record(
                leased.map { mail in
                    let isRefused = mail.mail.email == "a@example.com"
                    return queue.result(
                        of: mail.mail, isRefused ? .refused(code: "refused") : .failed(code: "timedOut"))
                })
            // A pause may be up to a tenth longer.
            let pause = MailSchedule.delays[min(attempts - 1, MailSchedule.delays.count) - 1]
            clock.advance(milliseconds: pause * 1100 + 1000)
        }
        #expect(attempts == 1 + 7)
        for (user, code) in [(refused, "refused"), (failed, "timedOut")] {
            let mail = try #require(try await mails(about: user).first)
            #expect(mail.nextAttemptAt == nil)
            #expect(mail.sentAt == nil)
            #expect(mail.lastError == code)
        }
        clock.advance(milliseconds: 7 * 86_400_000)
        try await queue.deleteExpired()
        #expect(try await mails(about: refused).isEmpty)
        #expect(try await mails(about: failed).isEmpty)
    }

    @Test func `the ledger contains neither texts nor the secrets of links`() async throws {
        _ = try await open("mint@example.com")
        let token = try #require(try await queue(ledger).lease(upTo: 1).first).token.text
        var text = Data()
        _ = try ledger.export { text.append($0) }
        let words = String(decoding: text, as: UTF8.self)
        #expect(words.contains("\"table\":\"account_link\""))
        #expect(words.contains("\"table\":\"mail\""))
        #expect(words.contains("\"table\":\"mail_count\""))
        #expect(!words.contains(token))
        #expect(!words.contains(String(token.dropFirst(3))))
    }

    @Test func `an export has the queue and the links, and an erasure deletes them`() async throws {
        let user = try await open("mint@example.com")
        let token = try #require(try await queue(ledger).lease(upTo: 1).first).token.text
        var text = Data()
        _ = try ledger.export { text.append($0) }
        let copy = try fixture.another()
        var rest: Data? = text
        _ = try copy.importLines { () throws(ImportError) -> Data? in
            defer { rest = nil }
            return rest
        }
        #expect(try await accounts(copy).confirm(token) == .verified)

        let account = try await accounts.account(of: user)
        let email = try EmailAddress("new@example.com")
        try await accounts.askForChange(of: account, to: email, in: "en")
        try await accounts.erase(account, by: .user, at: clock.now())
        await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(token) }
        #expect(try await queue(ledger).lease(upTo: 9).isEmpty)
        var erased = Data()
        _ = try ledger.export { erased.append($0) }
        let words = String(decoding: erased, as: UTF8.self)
        for word in ["mint", "new@", "\"table\":\"mail\"", "\"table\":\"account_link\"", "address_change"] {
            #expect(!words.contains(word), "\(word)")
        }
        #expect(try fixture.problems() == [])
    }

    @Test func `two concurrent confirmations change an address once`() async throws {
        let user = try await open("old@example.com")
        let queue = try queue(ledger)
        let verification = try #require(try await queue.lease(upTo: 1).first)
        _ = try await accounts.confirm(verification.token.text)
        let account = try await accounts.account(of: user)
        try await accounts.askForChange(of: account, to: try EmailAddress("new@example.com"), in: "en")
        let (here, there) = (try accounts, try accounts(try fixture.again()))
        let tokens = try await queue.lease(upTo: 9).map(\.token.text)
        #expect(tokens.count == 2)
        async let first = here.confirm(tokens[0])
        async let second = there.confirm(tokens[1])
        let results = try await [first, second]
        #expect(Set(results) == [.waitsForOther, .changed])
        #expect(try await accounts.account(of: user).email == "new@example.com")
        #expect(try fixture.problems() == [])
    }
}
