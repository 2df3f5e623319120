import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Verification, recovery and change of address by mailed links.
@Suite struct AccountMailTests {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let accounts: AccountService
    let queue: MailQueue
    let ledger: Ledger

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        accounts = AccountService(
            ledger: ledger, clock: clock, templates: try MailTemplates(), cost: .minimal)
        queue = accounts.mails
    }

    private func open(_ email: String, language: String = "en") async throws -> AccountService.Entrance {
        let email = try EmailAddress(email)
        let hash = try accounts.passwords.hash(try Password("correct horse", of: email))
        return try await accounts.open(email, passwordHash: hash, language: language)
    }

    /// Takes the due mails, as if they were sent.
    private func mails() async throws -> [LeasedMail] {
        let taken = try await queue.lease(upTo: 100)
        try await queue.record(taken.map { queue.result(of: $0.mail, .sent) })
        return taken
    }

    /// The token of the only due mail.
    private func token(_ purpose: LinkPurpose, to email: String) async throws -> String {
        let mails = try await mails()
        let mail = try #require(mails.first)
        #expect(mails.count == 1)
        #expect(mail.mail.purpose == purpose)
        #expect(mail.mail.email == email)
        return mail.token.text
    }

    private func account(_ user: User) async throws -> AccountRecord { try await accounts.account(of: user) }

    private func reset(_ token: String, to password: String) async throws {
        let account = try await accounts.account(resetBy: token)
        let hash = try accounts.passwords.hash(try Password(password, of: account.address))
        try await accounts.reset(token, to: hash)
    }

    private func askForReset(_ email: String) async throws {
        try await accounts.askForReset(of: try EmailAddress(email), in: "en")
    }

    private func askForChange(_ user: User, to email: String) async throws {
        try await accounts.askForChange(of: try await account(user), to: try EmailAddress(email), in: "en")
    }

    /// Opens an account and verifies its address.
    private func openVerified(_ email: String) async throws -> AccountService.Entrance {
        let entrance = try await open(email)
        #expect(try await accounts.confirm(try await token(.verification, to: email)) == .verified)
        return entrance
    }

    // MARK: Verification

    @Test func `an address is verified by its mailed link, once`() async throws {
        let user = try await open("Mint@example.com", language: "ko").account.user
        #expect(try await account(user).emailVerifiedAt == nil)
        let mail = try #require(try await mails().first)
        #expect(mail.mail.language == "ko")
        clock.advance(milliseconds: 1000)
        #expect(try await accounts.confirm(mail.token.text) == .verified)
        #expect(try await account(user).emailVerifiedAt == clock.now())
        await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(mail.token.text) }
        await #expect(throws: AccountError.emailVerified) { try await accounts.askForVerification(of: user, in: "en") }
        #expect(try await mails().isEmpty)
    }

    @Test func `a link expires, and another one can be requested`() async throws {
        let user = try await open("mint@example.com").account.user
        let first = try await token(.verification, to: "mint@example.com")
        clock.advance(milliseconds: 86_400_000)
        await #expect(throws: AccountError.linkExpired) { try await accounts.confirm(first) }
        try await accounts.askForVerification(of: user, in: "en")
        let second = try await token(.verification, to: "mint@example.com")
        #expect(try await accounts.confirm(second) == .verified)
    }

    @Test func `a malformed link is refused`() async throws {
        _ = try await open("mint@example.com")
        let token = try await token(.verification, to: "mint@example.com")
        let last = token.last == "A" ? "B" : "A"
        for forged in [
            "", "tl_", token + "A", String(token.dropLast()), token.dropLast() + last, "ta_" + token.dropFirst(3),
        ] {
            await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(forged) }
            await #expect(throws: AccountError.linkInvalid) { try await accounts.release(forged) }
            await #expect(throws: AccountError.linkInvalid) { try await accounts.account(resetBy: forged) }
        }
        await #expect(throws: AccountError.linkInvalid) { try await accounts.account(resetBy: token) }
        #expect(try await accounts.confirm(token) == .verified)
    }

    @Test func `without mail, nothing is queued`() async throws {
        let silent = AccountService(ledger: ledger, clock: clock, cost: .minimal)
        let email = try EmailAddress("mint@example.com")
        let entrance = try await silent.open(email, passwordHash: "h")
        #expect(try await ledger.read { try $0.mails(about: entrance.account.user) }.isEmpty)
    }

    // MARK: Passwords

    @Test func `a forgotten password is replaced, and every session ends`() async throws {
        let entrance = try await openVerified("mint@example.com")
        try await askForReset("MINT@example.com")
        let reset = try await token(.reset, to: "mint@example.com")
        try await self.reset(reset, to: "another password")
        #expect(try await accounts.user(presenting: entrance.tokens.access.text) == .invalid)
        let account = try await account(entrance.account.user)
        #expect(try accounts.passwords.matches("another password", account.passwordHash))
        #expect(try !accounts.passwords.matches("correct horse", account.passwordHash))
        await #expect(throws: AccountError.linkInvalid) { try await self.reset(reset, to: "a third password") }
    }

    @Test func `a reset verifies the address, and invalidates earlier links`() async throws {
        let user = try await open("mint@example.com").account.user
        let verification = try await token(.verification, to: "mint@example.com")
        try await askForReset("mint@example.com")
        let first = try await token(.reset, to: "mint@example.com")
        try await askForReset("mint@example.com")
        try await reset(try await token(.reset, to: "mint@example.com"), to: "another password")
        #expect(try await account(user).emailVerifiedAt == clock.now())
        await #expect(throws: AccountError.linkInvalid) { try await accounts.account(resetBy: first) }
        await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(verification) }
    }

    @Test func `a reset link is valid for an hour`() async throws {
        _ = try await openVerified("mint@example.com")
        try await askForReset("mint@example.com")
        let token = try await token(.reset, to: "mint@example.com")
        clock.advance(milliseconds: 3_600_000)
        await #expect(throws: AccountError.linkExpired) { try await reset(token, to: "another password") }
    }

    @Test func `a password change invalidates a pending reset`() async throws {
        let entrance = try await openVerified("mint@example.com")
        try await askForReset("mint@example.com")
        let token = try await token(.reset, to: "mint@example.com")
        _ = try await accounts.account(resetBy: token)
        let hash = try accounts.passwords.hash(try Password("another password", of: entrance.account.address))
        try await accounts.setPasswordHash(hash, of: entrance.account, from: entrance.tokens.access.text)
        await #expect(throws: AccountError.linkInvalid) { try await accounts.reset(token, to: "h") }
        let account = try await account(entrance.account.user)
        #expect(try accounts.passwords.matches("another password", account.passwordHash))
    }

    @Test func `addresses without an account get no mail, and share a few rows`() async throws {
        for number in 0..<300 { try await askForReset("nobody\(number)@example.com") }
        #expect(try await mails().isEmpty)
        func rows() async throws -> Int {
            try await ledger.read { try $0.database.value("SELECT count(*) FROM mail_count", []) ?? 0 }
        }
        #expect((1...256).contains(try await rows()))
        clock.advance(milliseconds: 3_600_000)
        try await accounts.mails.deleteExpired()
        #expect(try await rows() == 0)
    }

    @Test func `an address gets five mails for a new password in an hour`() async throws {
        _ = try await openVerified("mint@example.com")
        for _ in 0..<6 { try await askForReset("mint@example.com") }
        #expect(try await mails().count == 5)
        clock.advance(milliseconds: 3_600_000)
        try await askForReset("mint@example.com")
        #expect(try await mails().count == 1)
    }

    // MARK: Addresses

    @Test(arguments: [true, false])
    func `an address changes when both have confirmed, in any order`(oldComesFirst: Bool) async throws {
        let user = try await openVerified("old@example.com").account.user
        try await askForChange(user, to: "New@example.com")
        let mails = try await mails()
        #expect(Set(mails.map(\.mail.email)) == ["old@example.com", "New@example.com"])
        let old = try #require(mails.first { $0.mail.purpose == .addressChange })
        let new = try #require(mails.first { $0.mail.purpose == .newAddress })
        #expect(old.newEmail == "New@example.com")
        let tokens = oldComesFirst ? [old.token.text, new.token.text] : [new.token.text, old.token.text]
        #expect(try await accounts.confirm(tokens[0]) == .waitsForOther)
        #expect(try await account(user).email == "old@example.com")
        await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(tokens[0]) }
        #expect(try await accounts.confirm(tokens[1]) == .changed)
        let account = try await account(user)
        #expect(account.email == "New@example.com")
        #expect(account.emailVerifiedAt == clock.now())
        #expect(try await accounts.account(email: "new@example.com") == account)
        #expect(try await accounts.isAvailable(try EmailAddress("old@example.com")))
        #expect(try ledger.check().problems == [])
    }

    @Test func `an unverified old address need not confirm`() async throws {
        let user = try await open("tpyo@example.com").account.user
        _ = try await mails()
        try await askForChange(user, to: "mint@example.com")
        #expect(try await accounts.confirm(try await token(.newAddress, to: "mint@example.com")) == .changed)
        #expect(try await account(user).email == "mint@example.com")
    }

    @Test func `an address that is verified during its change must confirm`() async throws {
        let user = try await open("mint@example.com").account.user
        let verification = try await token(.verification, to: "mint@example.com")
        try await askForChange(user, to: "thief@example.com")
        let stolen = try await token(.newAddress, to: "thief@example.com")
        #expect(try await accounts.confirm(verification) == .verified)
        await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(stolen) }
        #expect(try await account(user).email == "mint@example.com")
    }

    @Test func `a later change replaces an earlier one`() async throws {
        let user = try await openVerified("old@example.com").account.user
        try await askForChange(user, to: "first@example.com")
        let first = try await mails()
        try await askForChange(user, to: "second@example.com")
        for mail in first {
            await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(mail.token.text) }
        }
        for mail in try await mails() { _ = try await accounts.confirm(mail.token.text) }
        #expect(try await account(user).email == "second@example.com")
    }

    @Test func `the case of an address can change`() async throws {
        let user = try await openVerified("mint@example.com").account.user
        await #expect(throws: AccountError.emailUnchanged) { try await askForChange(user, to: "mint@example.com") }
        try await askForChange(user, to: "Mint@example.com")
        for mail in try await mails() { _ = try await accounts.confirm(mail.token.text) }
        #expect(try await account(user).email == "Mint@example.com")
        #expect(try ledger.check().problems == [])
    }

    // MARK: Somebody else's address

    @Test func `an address goes to the account that verifies it`() async throws {
        let squatter = try await open("mint@example.com")
        _ = try await mails()
        let user = try await openVerified("old@example.com").account.user
        try await askForChange(user, to: "mint@example.com")
        for mail in try await mails() { _ = try await accounts.confirm(mail.token.text) }
        #expect(try await account(user).email == "mint@example.com")
        // The other account stays, without an address.
        let other = try await account(squatter.account.user)
        #expect(other.address == nil)
        #expect(try await accounts.user(presenting: squatter.tokens.access.text) == .user(squatter.account.user))
        #expect(try accounts.passwords.matches("correct horse", other.passwordHash))
        #expect(try ledger.check().problems == [])
        await #expect(throws: AccountError.accountNotFound) {
            try await accounts.askForVerification(of: squatter.account.user, in: "en")
        }
        try await askForChange(squatter.account.user, to: "own@example.com")
        #expect(try await accounts.confirm(try await token(.newAddress, to: "own@example.com")) == .changed)
        #expect(try await accounts.account(email: "own@example.com")?.user == squatter.account.user)
    }

    @Test func `an address stays with the account that has verified it`() async throws {
        let owner = try await openVerified("mint@example.com").account.user
        let user = try await openVerified("old@example.com").account.user
        try await askForChange(user, to: "mint@example.com")
        let mails = try await mails().sorted { $0.mail.purpose.rawValue < $1.mail.purpose.rawValue }
        #expect(try await accounts.confirm(mails[0].token.text) == .waitsForOther)
        await #expect(throws: AccountError.emailTaken) { try await accounts.confirm(mails[1].token.text) }
        #expect(try await account(user).email == "old@example.com")
        #expect(try await account(owner).email == "mint@example.com")
    }

    @Test func `the owner of an address releases it from another person's account`() async throws {
        let squatter = try await open("mint@example.com").account.user
        let token = try await token(.verification, to: "mint@example.com")
        try await accounts.release(token)
        #expect(try await accounts.isAvailable(try EmailAddress("mint@example.com")))
        await #expect(throws: AccountError.linkInvalid) { try await accounts.release(token) }
        await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(token) }
        let owner = try await openVerified("mint@example.com").account.user
        #expect(owner != squatter)
        #expect(try ledger.check().problems == [])
    }

    @Test func `the mailbox's owner takes over the account, and its creator keeps nothing`() async throws {
        let squatter = try await open("mint@example.com")
        _ = try await mails()
        // The squatter requests a change before, to regain the account by it.
        try await askForChange(squatter.account.user, to: "squatter@example.com")
        let back = try await token(.newAddress, to: "squatter@example.com")
        try await askForReset("mint@example.com")
        try await reset(try await token(.reset, to: "mint@example.com"), to: "another password")
        #expect(try await accounts.user(presenting: squatter.tokens.access.text) == .invalid)
        await #expect(throws: AccountError.refreshTokenInvalid) {
            try await accounts.renew(squatter.tokens.refresh.text)
        }
        await #expect(throws: AccountError.linkInvalid) { try await accounts.confirm(back) }
        #expect(try await account(squatter.account.user).email == "mint@example.com")
    }

    // MARK: Limits

    @Test func `an account gets ten mails in an hour, across all addresses`() async throws {
        let user = try await open("mint@example.com").account.user
        for number in 0..<9 {
            // Most of these mails are never sent, because a later one replaces them.
            try await askForChange(user, to: "\(number)@example.com")
        }
        await #expect(throws: AccountError.mailTooOften) { try await askForChange(user, to: "9@example.com") }
        clock.advance(milliseconds: 3_600_001)
        try await askForChange(user, to: "9@example.com")
    }
}
