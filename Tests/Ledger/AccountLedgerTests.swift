import Features
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing

/// Accounts and sessions in a ledger, and the erasure of a user, in either database.
@Suite struct AccountLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func account(_ name: String, _ email: String, hash: String = "h") throws -> AccountRecord {
        AccountRecord(
            user: try #require(User(issuer: "till", name: name)), email: email, emailLowercase: email.lowercased(),
            passwordHash: hash, createdAt: Self.now)
    }

    /// - Parameters:
    ///   - number: The number that distinguishes the session and its tokens.
    ///   - user: The user's number.
    private func session(
        _ number: UInt8,
        of user: Int64,
        tokens: UInt8? = nil,
        at moment: Timestamp = now
    ) -> SessionRecord {
        let tokens = tokens ?? number
        return SessionRecord(
            user: user, identifier: [UInt8](repeating: number, count: 16),
            refreshIdentifier: [UInt8](repeating: number + 50, count: 16),
            refreshDigest: [UInt8](repeating: tokens, count: 32),
            accessDigest: [UInt8](repeating: tokens + 100, count: 32), beganAt: moment, endsAt: moment.adding(days: 1))
    }

    private func digest(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    /// The reference to a session in access tokens.
    private func reference(_ number: UInt8, of user: Int64) -> SessionReference {
        SessionReference(identifier: [UInt8](repeating: number, count: 16), user: user)
    }

    /// Opens an account, with session 1.
    ///
    /// - Returns: The user's number; nil if the address has an account.
    private func open(_ account: AccountRecord) async throws -> Int64? {
        try await ledger.write { transaction in
            let user = try transaction.open(account)
            if let user { try transaction.begin(session(1, of: user)) }
            return user
        }
    }

    private func begin(_ number: UInt8, at moment: Timestamp = now, of account: AccountRecord) async throws -> Bool {
        try await ledger.write { transaction in
            guard let user = try transaction.unchanged(account) else { return false }
            try transaction.begin(session(number, of: user, at: moment))
            return true
        }
    }

    @Test func `an e-mail address has one account`() async throws {
        let first = try account("1", "Mint@example.com")
        let user = try #require(try await open(first))
        #expect(try await open(try account("2", "mint@example.com")) == nil)
        #expect(try await ledger.read { try $0.account(emailLowercase: "mint@example.com") } == first)
        #expect(try await ledger.read { try $0.account(of: first.user) } == first)
        #expect(try await ledger.read { try $0.account(of: alice) } == nil)
        #expect(try await ledger.read { try $0.session(access: reference(1, of: user)) }?.user == first.user)
        #expect(try await ledger.read { try $0.session(access: reference(1, of: user + 1)) } == nil)
        #expect(try await ledger.read { try $0.session(access: reference(2, of: user)) } == nil)
        #expect(try fixture.problems() == [])
    }

    @Test func `only the last refresh token renews a session`() async throws {
        let user = try #require(try await open(try account("1", "mint@example.com")))
        let next = session(1, of: user, tokens: 2, at: Self.later(60))
        #expect(try await ledger.write { try $0.renew(next, presenting: digest(1), at: Self.later(60)) } == .renewed)
        let found = try #require(try await ledger.read { try $0.session(access: reference(1, of: user)) }).session
        #expect(found.refreshDigest == digest(2))
        #expect(found.previousAccessDigest == digest(101))
        #expect(found.beganAt == Self.now)
        #expect(found.endsAt == Self.later(60).adding(days: 1))
        // Another process renews the session.
        let late = Self.later(60).adding(days: 1)
        #expect(
            try await fixture.again().write {
                try $0.renew(session(1, of: user, tokens: 3), presenting: digest(2), at: late)
            }
                == .ended)
        #expect(
            try await ledger.write {
                try $0.renew(session(1, of: user, tokens: 3), presenting: digest(1), at: Self.now)
            }
                == .reused)
        #expect(
            try await ledger.write {
                try $0.renew(session(1, of: user, tokens: 3), presenting: digest(2), at: Self.now)
            }
                == .unknown)
        #expect(try await ledger.read { try $0.session(access: reference(1, of: user)) } == nil)
    }

    @Test func `no session begins with an outdated password`() async throws {
        let mint = try account("1", "mint@example.com")
        let user = try #require(try await open(mint))
        #expect(try await begin(2, of: mint))
        #expect(
            try await ledger.write {
                try $0.setPasswordHash("new", of: mint, keeping: reference(2, of: user).identifier)
            })
        #expect(try await ledger.read { try $0.session(access: reference(1, of: user)) } == nil)
        #expect(try await ledger.read { try $0.session(access: reference(2, of: user)) } != nil)
        #expect(try await !begin(3, of: mint))
        #expect(try await !ledger.write { try $0.setPasswordHash("newer", of: mint, keeping: []) })
        let second = try #require(try await ledger.read { try $0.session(access: reference(2, of: user)) }).session
        try await ledger.write { try $0.end(second) }
        #expect(try await ledger.read { try $0.session(access: reference(2, of: user)) } == nil)
    }

    @Test func `a new session deletes expired sessions`() async throws {
        let mint = try account("1", "mint@example.com")
        let user = try #require(try await open(mint))
        #expect(try await begin(2, at: Self.now.adding(days: 1), of: mint))
        #expect(try await ledger.read { try $0.session(access: reference(1, of: user)) } == nil)
        #expect(try await ledger.read { try $0.session(access: reference(2, of: user)) } != nil)
    }

    /// Design rule 8: the name is erased, the transactions cannot be redeemed again, and the chain is unbroken.
    @Test func `an erased user leaves a tombstone`() async throws {
        let mint = try account("1", "mint@example.com")
        #expect(try await open(mint) != nil)
        let token = try await ledger.write { try $0.makeAppAccountToken(of: mint.user, at: Self.now) }
        let coins = Credit(balance: "coins", amount: 10)
        _ = try await redeem(claim("1"), claim("2", item: nil, credit: coins), for: mint.user)
        #expect(try await redeem(claim("1"), for: alice) == [.ownedByAnotherUser])
        #expect(try await redeem(claim("1"), for: mint.user) == [.alreadyRedeemed])
        let grant = Grant(
            identifier: "g", item: Self.sprout1, reason: "a gift to Mint", grantedBy: "K", grantedAt: Self.now,
            endsAt: nil)
        let answer = KeptAnswer(requestDigest: digest(1), bytes: [1])
        // One answer for a back end about the user, and one for the user's own app.
        let key = IdempotencyKey(caller: "K", key: "k")
        let own = IdempotencyKey(caller: "till 1", key: "k")
        _ = try await ledger.write {
            try $0.keep(answer, for: own, about: mint.user, at: Self.now, deletingBefore: Self.now)
        }
        _ = try await ledger.write {
            try $0.add(grant, for: mint.user, keeping: answer, for: key)
        }
        let fraud = Revocation(revokedAt: Self.now, reason: "Mint has cheated", revokedBy: "K")
        _ = try await ledger.write { try $0.revoke(grant: "g", of: mint.user, fraud) }
        _ = try await ledger.write { try $0.change(.revoke(fraud), ofTransaction: "1", origin: nil, of: mint.user) }
        let spending = Spending(
            identifier: "s", balance: "coins", amount: 4, reason: "a hat for Mint", spentBy: "K", spentAt: Self.now)
        _ = try await ledger.write {
            try $0.spend(
                spending, for: mint.user, accepting: Set(Origin.allCases))
        }
        #expect(try await ledger.read { try $0.sessions(of: mint.user) }.count == 1)
        #expect(try await ledger.read { try $0.knownUser(mint.user)?.appAccountToken } == token)
        #expect(try await ledger.read { try $0.audit(of: mint.user) }.count == 6)

        // An outdated password does not erase the account.
        let before = AccountRecord(
            user: mint.user, email: mint.email, emailLowercase: mint.emailLowercase, passwordHash: "old",
            createdAt: Self.now)
        #expect(try await !ledger.write { try $0.erase(before, by: .user, at: Self.later(1)) })
        let number = try #require(try await ledger.read { try $0.users.known(mint.user) })
        let heard = try await ledger.read { try $0.events.position(of: number) }
        #expect(try await ledger.write { try $0.erase(mint, by: .user, at: Self.later(1)) })
        #expect(try await !ledger.write { try $0.erase(mint, by: .user, at: Self.later(1)) })
        #expect(try await !ledger.write { try $0.erase(mint.user, by: .user, at: Self.later(1)) })
        #expect(try await ledger.read { try $0.knownUser(mint.user) } == nil)
        #expect(try await ledger.read { try $0.account(emailLowercase: "mint@example.com") } == nil)
        #expect(try await ledger.read { try $0.session(access: reference(1, of: number)) } == nil)
        for key in [key, own] {
            #expect(try await ledger.read { try $0.answers.answer(for: key, since: Self.now) } == nil)
        }
        // An answer that was under way is not kept.
        _ = try await ledger.write {
            try $0.keep(answer, for: own, about: mint.user, at: Self.now, deletingBefore: Self.now)
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
            { try await ledger.write { try $0.add(Wish(productIdentifier: "p", wishedAt: Self.now), of: mint.user) } },
            {
                _ = try await ledger.write {
                    try $0.change(
                        ProfileChange(nickname: .set("Mint")), ofProfileOf: mint.user, owning: [], accepting: origins,
                        at: Self.now)
                }
            }, { _ = try await ledger.write { try $0.number(of: mint.user, at: Self.now) } },
            {
                _ = try await ledger.write {
                    try $0.add(grant, for: mint.user, keeping: nil, for: nil)
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
