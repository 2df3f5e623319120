import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Accounts and sessions over a ledger.
@Suite struct AccountServiceTests {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let accounts: AccountService
    let ledger: Ledger

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        accounts = AccountService(ledger: ledger, clock: clock, cost: .minimal)
    }

    private func open(_ email: String, _ password: String = "correct horse") async throws -> AccountService.Entrance {
        let email = try EmailAddress(email)
        let hash = try accounts.passwords.hash(try Password(password, of: email))
        return try await accounts.open(email, passwordHash: hash)
    }

    private func isPassword(_ text: String, of account: AccountRecord?) throws -> Bool {
        try accounts.passwords.matches(text, account?.passwordHash)
    }

    @Test func `an address has one account in any spelling`() async throws {
        let email = try EmailAddress("Mint@Example.com")
        #expect(try await accounts.isAvailable(email))
        let entrance = try await open("Mint@Example.com")
        #expect(entrance.account.email == "Mint@Example.com")
        #expect(entrance.account.user.issuer == User.accountIssuer)
        #expect(try await !accounts.isAvailable(try EmailAddress("mint@example.COM")))
        await #expect(throws: AccountError.emailTaken) { try await open("MINT@example.com", "another password") }
        // The second sign-up has changed nothing.
        let account = try await accounts.account(email: " mint@example.com ")
        #expect(account == entrance.account)
        #expect(try isPassword("correct horse", of: account))
    }

    @Test(
        arguments: [
            ("correct horse", true), ("Correct horse", false), ("correct horse ", false), ("", false),
            ("ｃｏｒｒｅｃｔ horse", true), (String(repeating: "x", count: 100_000), false),
        ])
    func `only the exact password is accepted`(text: String, isRight: Bool) async throws {
        let account = try await open("mint@example.com").account
        #expect(try isPassword(text, of: account) == isRight)
        #expect(try !isPassword(text, of: nil))
    }

    @Test func `a password is stored as a salted hash`() async throws {
        let first = try await open("a@example.com").account.passwordHash
        let second = try await open("b@example.com").account.passwordHash
        #expect(first != second)
        #expect(first.hasPrefix("$scrypt$ln=4,r=1,p=1$"))
    }

    @Test func `a session of a clock that was ahead lasts no longer than another, and its access token ends`()
        async throws
    {
        clock.advance(milliseconds: 10 * 86_400_000)
        let entrance = try await open("mint@example.com")
        let tokens = entrance.tokens
        clock.advance(milliseconds: -10 * 86_400_000)
        #expect(try await accounts.user(presenting: tokens.access.text) == .user(entrance.account.user))
        #expect(try await ledger.takeBackOwnTimes(to: clock.now(), isBehind: false) == ["session.ends_at": 1])
        #expect(try await accounts.user(presenting: tokens.access.text) == .expired)
        let sessions = try await ledger.read { try $0.sessions(of: entrance.account.user) }
        #expect(sessions.map(\.beganAt) == [clock.now()])
        #expect(sessions.map(\.endsAt) == [clock.now().adding(days: 60)])
        let renewed = try await accounts.renew(tokens.refresh.text)
        #expect(try await accounts.user(presenting: renewed.access.text) == .user(entrance.account.user))
    }

    @Test func `an access token lasts minutes, and a refresh token is valid once`() async throws {
        let entrance = try await open("mint@example.com")
        let (user, first) = (entrance.account.user, entrance.tokens)
        #expect(try await accounts.user(presenting: first.access.text) == .user(user))
        clock.advance(milliseconds: 10 * 60_000)
        let second = try await accounts.renew(first.refresh.text)
        // Requests with the old token may be under way.
        #expect(try await accounts.user(presenting: first.access.text) == .user(user))
        #expect(try await accounts.user(presenting: second.access.text) == .user(user))
        clock.advance(milliseconds: 5 * 60_000 - 1)
        #expect(try await accounts.user(presenting: first.access.text) == .user(user))
        clock.advance(milliseconds: 1)
        #expect(try await accounts.user(presenting: first.access.text) == .expired)
        #expect(try await accounts.user(presenting: second.access.text) == .user(user))
        let third = try await accounts.renew(second.refresh.text)
        #expect(try await accounts.user(presenting: first.access.text) == .expired)
        #expect(try await accounts.user(presenting: third.access.text) == .user(user))
    }

    /// A refresh token was copied. The second use ends the session for both holders.
    @Test func `a reused refresh token ends its session`() async throws {
        let entrance = try await open("mint@example.com")
        let other = try await accounts.enter(entrance.account).tokens
        let second = try await accounts.renew(entrance.tokens.refresh.text)
        let third = try await accounts.renew(second.refresh.text)
        await #expect(throws: AccountError.refreshTokenReused) {
            try await accounts.renew(entrance.tokens.refresh.text)
        }
        #expect(try await accounts.user(presenting: third.access.text) == .invalid)
        await #expect(throws: AccountError.refreshTokenInvalid) { try await accounts.renew(third.refresh.text) }
        await #expect(throws: AccountError.refreshTokenInvalid) {
            try await accounts.renew(entrance.tokens.refresh.text)
        }
        // The session of another device is separate.
        #expect(try await accounts.user(presenting: other.access.text) == .user(entrance.account.user))
        _ = try await accounts.renew(other.refresh.text)
    }

    @Test func `a refresh token expires`() async throws {
        let entrance = try await open("mint@example.com")
        let tokens = entrance.tokens
        clock.advance(milliseconds: 60 * 86_400_000 - 1)
        let renewed = try await accounts.renew(tokens.refresh.text)
        clock.advance(milliseconds: 60 * 86_400_000)
        await #expect(throws: AccountError.refreshTokenExpired) { try await accounts.renew(renewed.refresh.text) }
        // The result is the same after another log-in has deleted the expired session.
        _ = try await open("gold@example.com")
        #expect(try await ledger.read { try $0.sessions(of: entrance.account.user) } == [])
        await #expect(throws: AccountError.refreshTokenExpired) { try await accounts.renew(renewed.refresh.text) }
    }

    @Test func `log-out ends the session`() async throws {
        let entrance = try await open("mint@example.com")
        try await accounts.endSession(entrance.tokens.refresh.text)
        try await accounts.endSession(entrance.tokens.refresh.text)
        #expect(try await accounts.user(presenting: entrance.tokens.access.text) == .invalid)
        await #expect(throws: AccountError.refreshTokenInvalid) {
            try await accounts.renew(entrance.tokens.refresh.text)
        }
        await #expect(throws: AccountError.refreshTokenInvalid) {
            try await accounts.endSession(entrance.tokens.access.text)
        }
    }

    @Test func `a malformed token names no user`() async throws {
        let tokens = try await open("mint@example.com").tokens
        let access = tokens.access.text
        let last = access.last == "A" ? "B" : "A"
        for forged in [
            "", "ta_", "ta_x", access + "A", String(access.dropLast()), access.dropLast() + last, access.uppercased(),
            tokens.refresh.text, "ta_" + tokens.refresh.text.dropFirst(3), " " + access,
            "ta_" + String(repeating: "_", count: 64), "ta_" + String(repeating: "_", count: 68),
        ] {
            // The text may contain a past expiration, which the service trusts.
            #expect([.invalid, .expired].contains(try await accounts.user(presenting: forged)), "\(forged)")
        }
        await #expect(throws: AccountError.refreshTokenInvalid) {
            try await accounts.renew("tr_" + access.dropFirst(3) + "x")
        }
        let account = try #require(try await accounts.account(email: "mint@example.com"))
        #expect(try await accounts.user(presenting: access) == .user(account.user))
    }

    @Test func `a new password ends every other session`() async throws {
        let here = try await open("mint@example.com")
        let there = try await accounts.enter(here.account)
        let email = try EmailAddress("mint@example.com")
        let hash = try accounts.passwords.hash(try Password("another password", of: email))
        try await accounts.setPasswordHash(hash, of: here.account, from: here.tokens.access.text)
        #expect(try await accounts.user(presenting: here.tokens.access.text) == .user(here.account.user))
        #expect(try await accounts.user(presenting: there.tokens.access.text) == .invalid)
        #expect(try isPassword("another password", of: try await accounts.account(email: "mint@example.com")))
        // A log-in that confirmed the old password meanwhile is refused.
        await #expect(throws: AccountError.credentialsWrong) { try await accounts.enter(here.account) }
        await #expect(throws: CredentialError.passwordWrong) {
            try await accounts.setPasswordHash(hash, of: here.account, from: here.tokens.access.text)
        }
    }

    /// A found access token is useless for logging its user out.
    @Test func `an access token does not reveal the refresh token`() async throws {
        let tokens = try await open("mint@example.com").tokens
        let (access, refresh) = (tokens.access.text.dropFirst(3), tokens.refresh.text.dropFirst(3))
        #expect(access.prefix(21) != refresh.prefix(21))
        await #expect(throws: AccountError.refreshTokenInvalid) { try await accounts.renew("tr_" + access) }
        try await accounts.endSession("tr_" + access)
        _ = try await accounts.renew(tokens.refresh.text)
    }

    @Test func `the number of sessions of an account is limited`() async throws {
        let first = try await open("mint@example.com")
        var last: [SessionTokens] = []
        for _ in 0..<50 {
            clock.advance(milliseconds: 1)
            last.append(try await accounts.enter(first.account).tokens)
        }
        #expect(try await accounts.user(presenting: first.tokens.access.text) == .invalid)
        for tokens in last {
            #expect(try await accounts.user(presenting: tokens.access.text) == .user(first.account.user))
        }
    }

    @Test func `no secret is in the file`() async throws {
        let entrance = try await open("mint@example.com", "a password to look for")
        _ = try await accounts.renew(entrance.tokens.refresh.text)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        for name in names {
            let text = String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self)
            for secret in ["to look for", entrance.tokens.refresh.text, entrance.tokens.access.text] {
                #expect(!text.contains(secret), "\(name)")
            }
        }
    }
}
