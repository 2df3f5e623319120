import Foundation
import Ledger
import Proofs

/// The accounts of users with the service itself.
///
/// Each use case with a password has two halves, like a redemption. Hashing uses the processor, not the ledger. The rest is one
/// call of the ledger. So the caller can hash on threads that block nothing else.
package struct AccountService: Sendable {
    /// The lifetime of an access token, in milliseconds.
    static let accessTime: Int64 = 15 * 60 * 1000
    /// The lifetime of a refresh token, in milliseconds. A device may stay offline that long.
    static let refreshTime: Int64 = 60 * 86_400 * 1000

    let ledger: Ledger
    let clock: any WallClock
    let randomness: Randomness
    /// True if the address of a new account gets a mail with a link that verifies it.
    private let sendsMail: Bool
    private let cost: PasswordHash.Cost
    /// The hash of no password. It is compared for unknown addresses, so that they take as long.
    private let decoy: PasswordHash

    /// - Parameters:
    ///   - sendsMail: True if the queued mails are sent.
    ///   - cost: The cost of one hash.
    package init(
        ledger: Ledger,
        clock: any WallClock,
        randomness: Randomness,
        sendsMail: Bool = false,
        cost: PasswordHash.Cost = .standard
    ) {
        self.sendsMail = sendsMail
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
        self.cost = cost
        decoy = PasswordHash(decoyFrom: randomness.bytes(32), cost: cost)
    }

    /// A logged-in user, and the tokens for the device.
    package struct Entrance: Sendable {
        package let account: AccountRecord
        package let tokens: SessionTokens
    }

    /// Erases a user after the account's password was confirmed. The user's transactions stay redeemed, under a tombstone.
    ///
    /// - Throws: `AccountError`, `passwordWrong` if the account was erased or its password was changed meanwhile.
    package func erase(_ account: AccountRecord, by actor: AuditActor, at moment: Timestamp) async throws {
        let isErased = try await ledger.write { try $0.erase(account, by: actor, at: moment) }
        guard isErased else { throw AccountError.passwordWrong }
    }

    /// True if no account has the address.
    package func isAvailable(_ email: EmailAddress) async throws -> Bool {
        try await ledger.read { try $0.account(emailLowercase: email.lowercase) } == nil
    }

    /// An account that is not stored yet. This takes as long as a hash.
    package func newAccount(_ email: EmailAddress, _ password: Password) throws(AccountError) -> AccountRecord {
        let name = UUID(randomness: randomness).lowercasedString
        // A UUID is a valid name.
        guard let user = User(issuer: User.accountIssuer, name: name) else { throw .accountNotFound }
        return AccountRecord(
            user: user, email: email.text, emailLowercase: email.lowercase, passwordHash: try hash(password),
            createdAt: clock.now())
    }

    /// Stores an account, and logs its user in.
    ///
    /// - Parameters:
    ///   - language: The language of the mail that verifies the address, if mail is sent.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `AccountError`, `emailTaken`; `LedgerError.newcomersLimited`.
    package func open(
        _ account: AccountRecord,
        language: String = "en",
        newcomers: NewcomerAllowance? = nil
    ) async throws -> Entrance {
        let tokens = try await ledger.write { transaction -> SessionTokens? in
            guard let user = try transaction.open(account, newcomers: newcomers) else { return nil }
            if sendsMail {
                // A reached mail limit does not prevent the sign-up. The user can ask for the mail later.
                _ = try transaction.queueVerification(of: account, user, in: language, at: account.createdAt)
            }
            return try begin(of: user, in: transaction)
        }
        guard let tokens else { throw AccountError.emailTaken }
        return Entrance(account: account, tokens: tokens)
    }

    /// The account of an address as the client sent it; nil if there is none.
    package func account(email: String) async throws -> AccountRecord? {
        guard let email = try? EmailAddress(email) else { return nil }
        return try await ledger.read { try $0.account(emailLowercase: email.lowercase) }
    }

    package func account(of user: User) async throws -> AccountRecord {
        let account = try await ledger.read { try $0.account(of: user) }
        guard let account else { throw AccountError.accountNotFound }
        return account
    }

    /// True if a password is the account's. This takes as long as a hash, with or without an account.
    package func isPassword(_ password: String, of account: AccountRecord?) throws(AccountError) -> Bool {
        // A password above the limit matches no account. It takes as long as any other.
        let isShort = password.utf8.count <= Password.maximumLength
        let text = isShort ? Password.composed(password) : ""
        guard let hash = account.map({ PasswordHash($0.passwordHash) }) ?? decoy else { throw .passwordNotHashed }
        let matches: Bool
        do { matches = try hash.matches(text) } catch { throw .passwordNotHashed }
        return matches && isShort && account != nil
    }

    /// Logs a user in after the account's password was confirmed.
    ///
    /// - Throws: `AccountError`, `credentialsWrong` if the account was erased or its password was changed meanwhile.
    package func enter(_ account: AccountRecord) async throws -> Entrance {
        let tokens = try await ledger.write { transaction in
            try transaction.unchanged(account).map { try begin(of: $0, in: transaction) }
        }
        guard let tokens else { throw AccountError.credentialsWrong }
        return Entrance(account: account, tokens: tokens)
    }

    /// The hash of a new password. This is slow by design.
    package func hash(_ password: Password) throws(AccountError) -> String {
        do {
            return try PasswordHash(password.text, salt: randomness.bytes(16), cost: cost).description
        } catch {
            throw .passwordNotHashed
        }
    }

    /// Sets another password of an account, and ends all its other sessions.
    ///
    /// - Parameters:
    ///   - hash: The hash of the new password.
    ///   - token: The access token of the caller, whose session continues.
    package func setPasswordHash(_ hash: String, of account: AccountRecord, from token: String) async throws {
        let session = SessionToken(.access, token)?.session.identifier ?? []
        let isSet = try await ledger.write { try $0.setPasswordHash(hash, of: account, keeping: session) }
        guard isSet else { throw AccountError.passwordWrong }
    }
}

/// The use cases of mailed links.
extension AccountService {
    /// Queues a mail with a link that verifies the address of an account.
    ///
    /// - Throws: `AccountError`: `accountNotFound`, `emailVerified`, `mailTooOften`.
    package func askForVerification(of user: User, in language: String) async throws {
        let now = clock.now()
        try await ledger.write { transaction in
            guard let account = try transaction.account(of: user), account.address != nil,
                let number = try transaction.unchanged(account)
            else { throw AccountError.accountNotFound }
            guard account.emailVerifiedAt == nil else { throw AccountError.emailVerified }
            guard try transaction.queueVerification(of: account, number, in: language, at: now) else {
                throw AccountError.mailTooOften
            }
        }
    }

    /// Queues a mail with a link that resets the password, if the address has an account.
    package func askForReset(of email: EmailAddress, in language: String) async throws {
        let now = clock.now()
        try await ledger.write { try $0.queueReset(for: email, in: language, at: now) }
    }

    /// Begins the change of an account's address, after the password was confirmed.
    ///
    /// - Throws: `AccountError`: `emailUnchanged`, `passwordWrong`, `mailTooOften`.
    package func askForChange(of account: AccountRecord, to email: EmailAddress, in language: String) async throws {
        guard email.text != account.email else { throw AccountError.emailUnchanged }
        let now = clock.now()
        try await ledger.write { try $0.beginChange(to: email, of: account, in: language, at: now) }
    }

    /// Confirms an address, or one half of a change.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`, `emailTaken`.
    package func confirm(_ text: String) async throws -> Confirmation {
        let token = try await presentedLink(text, for: [.verification, .addressChange, .newAddress]).token
        let now = clock.now()
        return try await ledger.write { try $0.confirm(token, at: now) }
    }

    /// Releases an address that another person has used to sign up.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`, `emailVerified`.
    package func release(_ text: String) async throws {
        let token = try await presentedLink(text, for: [.verification]).token
        let now = clock.now()
        try await ledger.write { try $0.release(token, at: now) }
    }

    /// A valid link for a password reset.
    package struct PresentedReset: Sendable {
        fileprivate let token: LinkToken
        package let account: AccountRecord
    }

    /// Checks the link of a reset. This is the first half, which writes nothing, so that a stranger without a link causes no
    /// write and no hash.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`.
    package func presentedReset(_ text: String) async throws -> PresentedReset {
        let (token, account) = try await presentedLink(text, for: [.reset])
        return PresentedReset(token: token, account: account)
    }

    /// Sets the new password of an account, and ends all its sessions.
    ///
    /// - Parameter hash: The hash of the new password.
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`.
    package func reset(_ presented: PresentedReset, to hash: String) async throws {
        let now = clock.now()
        try await ledger.write { try $0.reset(hash, by: presented.token, at: now) }
    }

    private func presentedLink(
        _ text: String,
        for purposes: Set<LinkPurpose>
    ) async throws -> (token: LinkToken, account: AccountRecord) {
        guard let token = LinkToken(text) else { throw AccountError.linkInvalid }
        let now = clock.now()
        let account = try await ledger.read { try $0.account(of: token, for: purposes, at: now).account }
        return (token, account)
    }
}

/// The use cases of sessions. An access token is valid for minutes. A refresh token is valid once, for a new pair of tokens. A
/// second use shows that it was copied, and ends the session.
extension AccountService {
    /// The result of presenting an access token.
    package enum Presented: Hashable, Sendable {
        case user(User)
        case expired
        case invalid
    }

    /// True if a text has the prefix of an access token.
    package static func isAccessToken(_ text: String) -> Bool {
        text.hasPrefix(SessionToken.Kind.access.rawValue)
    }

    /// - Parameter text: The presented text.
    package func user(presenting text: String) async throws -> Presented {
        guard let token = SessionToken(.access, text) else { return .invalid }
        // Valid or not, the token has expired.
        guard clock.now() < token.endsAt else { return .expired }
        guard let (session, user) = try await ledger.read(.statement, { try $0.session(access: token.session) }) else {
            return .invalid
        }
        let digest = token.digest
        let isValid = [session.accessDigest, session.previousAccessDigest].compactMap(\.self).contains {
            ConstantTime.areEqual($0, digest)
        }
        return isValid ? .user(user) : .invalid
    }

    /// A presented refresh token, valid or not.
    package struct PresentedToken: Sendable {
        /// The reason why the token is invalid; nil if it has a session.
        package let refusal: AccountError?
        fileprivate let token: SessionToken
        fileprivate let session: SessionRecord?
    }

    /// Finds the session of a refresh token. This is the first half of a renewal or a log-out. It writes nothing, so that
    /// strangers cause no writes.
    ///
    /// - Parameter text: The presented text.
    /// - Throws: `AccountError`, `refreshTokenInvalid` for a malformed text.
    package func presented(_ text: String) async throws -> PresentedToken {
        guard let token = SessionToken(.refresh, text) else { throw AccountError.refreshTokenInvalid }
        let session = try await ledger.read { try $0.session(refresh: token.session) }
        let refusal: AccountError = token.endsAt <= clock.now() ? .refreshTokenExpired : .refreshTokenInvalid
        return PresentedToken(refusal: session == nil ? refusal : nil, token: token, session: session)
    }

    /// Exchanges a refresh token for a new pair of tokens.
    ///
    /// - Throws: `AccountError`.
    package func renew(_ presented: PresentedToken) async throws -> SessionTokens {
        guard let known = presented.session else { throw presented.refusal ?? AccountError.refreshTokenInvalid }
        let (session, tokens) = newSession(of: known.user, known)
        let renewal = try await ledger.write {
            try $0.renew(session, presenting: presented.token.digest, at: clock.now())
        }
        switch renewal {
        case .renewed: return tokens
        case .unknown: throw AccountError.refreshTokenInvalid
        case .ended: throw AccountError.refreshTokenExpired
        case .reused: throw AccountError.refreshTokenReused
        }
    }

    /// Ends a session by its current or an earlier refresh token. An earlier one may be a stolen copy, for which ending the
    /// session is right as well.
    package func end(_ presented: PresentedToken) async throws {
        guard let session = presented.session else { return }
        try await ledger.write { try $0.end(session) }
    }

    /// Begins a session of a user, by the user's number.
    func begin(of user: Int64, in transaction: LedgerTransaction) throws -> SessionTokens {
        let (session, tokens) = newSession(of: user)
        try transaction.begin(session)
        return tokens
    }

    /// A session with new tokens.
    ///
    /// - Parameters:
    ///   - user: The user's number.
    ///   - known: The session to continue; nil for a new one.
    func newSession(of user: Int64, _ known: SessionRecord? = nil) -> (SessionRecord, SessionTokens) {
        let now = clock.now()
        func end(_ milliseconds: Int64) -> Timestamp {
            Timestamp(millisecondsSince1970: now.millisecondsSince1970 + milliseconds)
        }
        let identifier = known?.identifier ?? randomness.bytes(16)
        let refresh = known?.refreshIdentifier ?? randomness.bytes(16)
        let tokens = SessionTokens(
            access: SessionToken(
                .access, of: identifier, of: user, endsAt: end(Self.accessTime), randomness: randomness),
            refresh: SessionToken(
                .refresh, of: refresh, of: user, endsAt: end(Self.refreshTime), randomness: randomness))
        let session = SessionRecord(
            user: user, identifier: identifier, refreshIdentifier: refresh, refreshDigest: tokens.refresh.digest,
            accessDigest: tokens.access.digest, beganAt: now, endsAt: tokens.refresh.endsAt)
        return (session, tokens)
    }
}
