import Entitlements
import Features
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Accounts and sessions in a ledger, and the erasure of a user, in either database.
@Suite struct AccountLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let clock = ManualClock(now)

    init() throws {
        fixture = try LedgerFixture()
    }

    private func accounts(_ ledger: Ledger) -> AccountService {
        AccountService(ledger: ledger, clock: clock, cost: .minimal)
    }

    private var accounts: AccountService { accounts(ledger) }

    private func digest(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    /// Opens an account, with a session.
    private func open(_ email: String) async throws -> AccountService.Entrance {
        try await accounts.open(try EmailAddress(email), passwordHash: "h")
    }

    private func isValid(_ tokens: SessionTokens) async throws -> Bool {
        if case .user = try await accounts.user(presenting: tokens.access.text) { true } else { false }
    }

    @Test func `an e-mail address has one account`() async throws {
        let first = try await open("Mint@example.com")
        await #expect(throws: AccountError.emailTaken) { try await open("mint@example.com") }
        #expect(try await accounts.account(email: "mint@example.com") == first.account)
        #expect(try await ledger.read { try $0.account(of: first.account.user) } == first.account)
        #expect(try await ledger.read { try $0.account(of: alice) } == nil)
        let token = first.tokens.access.text
        #expect(try await accounts.user(presenting: token) == .user(first.account.user))
        // The bytes of the session's identifier, and of the user's number.
        for place in [15, 23] {
            var content = try #require(Base64.decode(token.utf8.dropFirst(3), .urlSafe))
            content[place] ^= 1
            let forged = "ta_" + Base64.encode(content, .urlSafe)
            #expect(try await accounts.user(presenting: forged) == .invalid)
        }
        #expect(try fixture.problems() == [])
    }

    @Test func `only the last refresh token renews a session`() async throws {
        let entrance = try await open("mint@example.com")
        let (user, first) = (entrance.account.user, entrance.tokens)
        clock.advance(milliseconds: 60_000)
        let second = try await accounts.renew(first.refresh.text)
        let session = try #require(try await ledger.read { try $0.sessions(of: user) }.first)
        #expect(session.beganAt == Self.now)
        #expect(session.endsAt == Self.later(60).adding(days: 60))
        #expect(session.endsAt == second.refresh.endsAt)
        for tokens in [first, second] { #expect(try await isValid(tokens)) }
        // Another process renews the session.
        let other = accounts(try fixture.again())
        let third = try await other.renew(second.refresh.text)
        await #expect(throws: AccountError.refreshTokenReused) { try await accounts.renew(first.refresh.text) }
        await #expect(throws: AccountError.refreshTokenInvalid) { try await other.renew(third.refresh.text) }
        #expect(try await !isValid(third))
    }

    @Test func `a session ends with its refresh token`() async throws {
        let entrance = try await open("mint@example.com")
        clock.advance(milliseconds: 60 * 86_400_000)
        await #expect(throws: AccountError.refreshTokenExpired) {
            try await accounts.renew(entrance.tokens.refresh.text)
        }
        #expect(try await ledger.read { try $0.sessions(of: entrance.account.user) }.count == 1)
    }

    @Test func `no session begins with an outdated password`() async throws {
        let first = try await open("mint@example.com")
        let second = try await accounts.enter(first.account)
        try await accounts.setPasswordHash("new", of: first.account, from: second.tokens.access.text)
        #expect(try await !isValid(first.tokens))
        #expect(try await isValid(second.tokens))
        await #expect(throws: AccountError.credentialsWrong) { try await accounts.enter(first.account) }
        await #expect(throws: CredentialError.passwordWrong) {
            try await accounts.setPasswordHash("newer", of: first.account, from: "")
        }
        try await accounts.endSession(second.tokens.refresh.text)
        #expect(try await !isValid(second.tokens))
    }

    @Test func `a new session deletes expired sessions`() async throws {
        let first = try await open("mint@example.com")
        clock.advance(milliseconds: 60 * 86_400_000)
        let second = try await accounts.enter(first.account)
        let sessions = try await ledger.read { try $0.sessions(of: first.account.user) }
        #expect(sessions.map(\.beganAt) == [clock.now()])
        #expect(try await isValid(second.tokens))
    }

    /// Design rule 8: the name is erased, the transactions cannot be redeemed again, and the chain is unbroken.
    @Test func `an erased user leaves a tombstone`() async throws {
        let entrance = try await open("mint@example.com")
        let mint = entrance.account
        let token = try await ledger.write { try $0.makeAppAccountToken(of: mint.user, at: Self.now) }
        let coins = Credit(balance: "coins", amount: 10)
        _ = try await redeem(claim("1"), claim("2", item: nil, credit: coins), for: mint.user)
        #expect(try await redeem(claim("1"), for: alice) == [.ownedByAnotherUser])
        #expect(try await redeem(claim("1"), for: mint.user) == [.alreadyRedeemed])
        let grant = Grant(
            identifier: "g", item: Self.sprout1, reason: "a gift to Mint", grantedBy: "K", grantedAt: Self.now,
            endsAt: nil)
        // One answer for a back end about the user, and one for the user's own app.
        let key = IdempotencyKey(caller: "K", key: "k")
        let own = IdempotencyKey(caller: "till \(mint.user.name)", key: "k")
        let answer = own.answer([1], to: digest(1))
        _ = try await ledger.write {
            try $0.keep(answer, about: mint.user, at: Self.now, deletingBefore: Self.now)
        }
        _ = try await ledger.write {
            try $0.add(
                grant, for: mint.user, keeping: key.answer([1], to: digest(1)))
        }
        let fraud = Revocation(revokedAt: Self.now, reason: "Mint has cheated", revokedBy: "K")
        _ = try await ledger.write { try $0.revoke(grant: "g", of: mint.user, fraud) }
        _ = try await ledger.write {
            try $0.change(
                .revoke(reason: "Mint has cheated"), ofTransaction: "1", origin: nil, of: mint.user, by: "K",
                at: Self.now)
        }
        let spending = Spending(
            identifier: "s", balance: "coins", amount: 4, reason: "a hat for Mint", spentBy: "K", spentAt: Self.now)
        _ = try await ledger.write {
            try $0.spend(
                spending, for: mint.user, accepting: Set(Origin.allCases))
        }
        #expect(try await ledger.read { try $0.sessions(of: mint.user) }.count == 1)
        #expect(try await ledger.read { try $0.customer(mint.user)?.appAccountToken } == token)
        #expect(try await ledger.read { try $0.audit(of: mint.user) }.count == 6)

        // An outdated password does not erase the account.
        try await accounts.setPasswordHash("new", of: mint, from: entrance.tokens.access.text)
        await #expect(throws: CredentialError.passwordWrong) {
            try await accounts.erase(mint, by: .user, at: Self.later(1))
        }
        let changed = try await accounts.account(of: mint.user)
        let number = try #require(try await ledger.read { try $0.users.known(mint.user) })
        let heard = try await ledger.read { try $0.events.position(of: number) }
        try await accounts.erase(changed, by: .user, at: Self.later(1))
        await #expect(throws: CredentialError.passwordWrong) {
            try await accounts.erase(changed, by: .user, at: Self.later(1))
        }
        #expect(try await !ledger.write { try $0.erase(mint.user, by: .user, at: Self.later(1)) })
        #expect(try await ledger.read { try $0.customer(mint.user) } == nil)
        #expect(try await accounts.isAvailable(try EmailAddress("mint@example.com")))
        #expect(try await !isValid(entrance.tokens))
        for key in [key, own] {
            #expect(try await ledger.read { try $0.answers.answer(for: key, since: Self.now) } == nil)
        }
        // An answer that was under way is not kept.
        _ = try await ledger.write {
            try $0.keep(answer, about: mint.user, at: Self.now, deletingBefore: Self.now)
        }
        #expect(try await ledger.read { try $0.answers.answer(for: own, since: Self.now) } == nil)
        #expect(try fixture.problems() == [])
        var text = Data()
        _ = try ledger.export { text.append($0) }
        let words = String(decoding: text, as: UTF8.self)
        #expect(!words.contains("Mint"))
        #expect(!words.contains("mint"))
        #expect(words.contains("\"event\":\"erased\""))

        // No other user can redeem the transaction.
        #expect(try await redeem(claim("1"), for: alice) == [.ownedByAnotherUser])
        let named = claim("1", signedAt: Self.later(9), appAccountToken: token)
        #expect(try await redeem(named, for: alice) == [.appAccountTokenMismatch])
        // A notification of the App Store still finds the transaction.
        let refund = claim("2", revoked: Self.later(9), signedAt: Self.later(9), item: nil)
        #expect(try await notify("r", refund) == .revoked)
        // Erasure is the last event that listeners get.
        #expect(
            try await ledger.read { try $0.events.events(of: number, after: heard, limit: 9) } == .erased)
        // A request that was under way does not add the user again.
        let origins = Set(Origin.allCases)
        let gone: [() async throws -> Void] = [
            { _ = try await redeem(claim("7"), for: mint.user) },
            { _ = try await ledger.write { try $0.makeAppAccountToken(of: mint.user, at: Self.now) } },
            { _ = try await ledger.write { try $0.setAppAccountToken(UUID(), of: mint.user, at: Self.now) } },
            { try await ledger.write { try $0.addWish(for: "p", of: mint.user, at: Self.now) } },
            {
                _ = try await ledger.write {
                    try $0.changeProfile(of: mint.user, .set("Mint"), accepting: origins, at: Self.now)
                }
            }, { _ = try await ledger.write { try $0.number(of: mint.user, at: Self.now) } },
            {
                _ = try await ledger.write {
                    try $0.add(grant, for: mint.user)
                }
            },
        ]
        for request in gone {
            await #expect {
                try await request()
            } throws: {
                ($0 as? LedgerError) == .userUnknown
            }
        }
        #expect(try await redeem(claim("7"), for: alice) == [.granted])
        #expect(try fixture.problems() == [])
    }
}
