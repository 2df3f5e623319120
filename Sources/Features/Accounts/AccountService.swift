import Foundation
import Ledger
import Proofs
import Vocabulary

/// The accounts of users with the service itself.
///
/// Each use case with a password has two halves, like a redemption. `passwords` uses the processor, not the ledger. The rest is
/// one call of the ledger.
package struct AccountService: Sendable {
    package let passwords: Passwords
    let ledger: Ledger
    let clock: any WallClock
    private let randomness: Randomness
    /// The texts of mails with links, of which the address of a new account gets one; nil if no mail is sent.
    package let templates: MailTemplates?

    /// - Parameters:
    ///   - templates: The texts of the mails; nil if none is sent.
    package init(
        ledger: Ledger,
        clock: any WallClock,
        randomness: Randomness = .system,
        templates: MailTemplates? = nil,
        cost: PasswordHash.Cost = .standard
    ) {
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
        self.templates = templates
        passwords = Passwords(randomness: randomness, cost: cost)
    }

    package var mails: MailQueue { MailQueue(ledger: ledger, clock: clock, randomness: randomness) }

    func write<Value: Sendable>(
        _ useCase: @escaping @Sendable (LedgerTransaction, Timestamp) throws -> Value
    ) async throws -> Value {
        let now = clock.now()
        return try await ledger.write { try useCase($0, now) }
    }

    package func isAvailable(_ email: EmailAddress) async throws -> Bool {
        try await ledger.read { try $0.account(emailLowercase: email.lowercase) } == nil
    }

    /// The account of an address as the client sent it; nil if there is none.
    package func account(email: String) async throws -> AccountRecord? {
        guard let email = try? EmailAddress(email) else { return nil }
        return try await ledger.read { try $0.account(emailLowercase: email.lowercase) }
    }

    /// - Throws: `AccountError.accountNotFound`.
    package func account(of user: User) async throws -> AccountRecord {
        let account = try await ledger.read { try $0.account(of: user) }
        guard let account else { throw AccountError.accountNotFound }
        return account
    }

    /// A logged-in user, and the tokens for the device.
    package struct Entrance: Sendable {
        package let account: AccountRecord
        package let tokens: SessionTokens
    }

    /// Opens an account, and logs its user in.
    ///
    /// - Parameters:
    ///   - language: The language of the mail that verifies the address, if mail is sent.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `AccountError.emailTaken`; `LedgerError.newcomersLimited`.
    package func open(
        _ email: EmailAddress, passwordHash hash: String, language: String = "en", newcomers: NewcomerAllowance? = nil
    ) async throws -> Entrance {
        try await write { transaction, now in
            guard try transaction.account(emailLowercase: email.lowercase) == nil else { throw AccountError.emailTaken }
            // A UUID is a valid name.
            let name = UUID(randomness: transaction.randomness).lowercasedString
            guard let user = User(issuer: User.accountIssuer, name: name) else { throw transaction.damaged }
            // The bytes that the account and its user take in the ledger with a session, about.
            try newcomers?.charge(NewcomerAllowance.bytes(ofUserNamed: user) + 512 + 4 * email.text.utf8.count)
            guard let number = try transaction.users.insert([user], at: now)[user],
                try transaction.database.execute(
                    "INSERT INTO account_email (email_lowercase, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    [email.lowercase, number]) == 1
            else { throw transaction.damaged }
            try transaction.database.insert(
                into: "account", ["user_id", "email", "email_lowercase", "password_hash", "created_at"],
                [[number, email.text, email.lowercase, hash, now]])
            let account = AccountRecord(
                number: number, user: user, email: email.text, emailLowercase: email.lowercase, passwordHash: hash,
                createdAt: now)
            if templates != nil {
                // A reached mail limit does not prevent the sign-up. The user can ask for the mail later.
                _ = try transaction.queue(.verification, to: account.email, about: account, in: language, at: now)
            }
            return Entrance(account: account, tokens: try transaction.beginSession(of: account.number, at: now))
        }
    }

    /// Logs a user in after the account's password was confirmed.
    ///
    /// - Throws: `AccountError.credentialsWrong` if the account was erased or its password was changed meanwhile.
    package func enter(_ account: AccountRecord) async throws -> Entrance {
        try await write { transaction, now in
            guard try transaction.unchanged(account) != nil else { throw AccountError.credentialsWrong }
            return Entrance(account: account, tokens: try transaction.beginSession(of: account.number, at: now))
        }
    }

    /// Sets another password of an account, and ends all its other sessions.
    ///
    /// - Parameters:
    ///   - hash: The hash of the new password.
    ///   - token: The access token of the caller, whose session continues.
    /// - Throws: `CredentialError.passwordWrong` if the account was erased or its password was changed meanwhile.
    package func setPasswordHash(_ hash: String, of account: AccountRecord, from token: String) async throws {
        let session = SessionToken(.access, token)?.identifier ?? []
        try await ledger.write { transaction in
            guard try transaction.unchanged(account) != nil else { throw CredentialError.passwordWrong }
            try transaction.setPasswordHash(hash, of: account.number, keeping: session)
        }
    }

    /// Erases a user after the account's password was confirmed. The user's transactions stay redeemed, under a tombstone.
    ///
    /// - Throws: `CredentialError.passwordWrong` if the account was erased or its password was changed meanwhile.
    package func erase(_ account: AccountRecord, by actor: AuditActor, at moment: Timestamp) async throws {
        try await ledger.write { transaction in
            guard try transaction.unchanged(account) != nil,
                try transaction.erase(account.user, by: actor, at: moment)
            else { throw CredentialError.passwordWrong }
        }
    }
}

/// The use cases of sessions.
extension AccountService {
    /// The result of presenting an access token.
    package enum Presented: Hashable, Sendable {
        case user(User)
        case expired
        case invalid
    }

    package static func isAccessToken(_ text: String) -> Bool {
        text.hasPrefix(SessionToken.Kind.access.rawValue)
    }

    package func user(presenting text: String) async throws -> Presented {
        guard let token = SessionToken(.access, text) else { return .invalid }
        // Valid or not, the token has expired.
        guard clock.now() < token.endsAt else { return .expired }
        return try await ledger.read(.statement) { transaction in
            let digest = token.digest
            return try transaction.database.row(
                """
                SELECT access_digest, previous_access_digest, ends_at, issuer, name FROM session JOIN "user" USING (user_id)
                WHERE user_id = $1 AND session_id = $2
                """,
                [token.user, token.identifier]
            ) { row in
                // The previous access token is valid until it expires.
                let digests: [[UInt8]?] = [try row.next(), try row.next()]
                guard digests.contains(where: { $0.map { ConstantTime.areEqual($0, digest) } ?? false }) else {
                    return .invalid
                }
                guard token.endsAt <= SessionTokens.accessEnd(of: try row.next()) else { return .expired }
                return .user(try User(accountRow: &row))
            } ?? .invalid
        }
    }

    /// Exchanges the latest refresh token of a session for a new pair of tokens. An earlier one was copied, and ends the session.
    ///
    /// The previous access token stays valid until it expires.
    ///
    /// - Throws: `AccountError`.
    package func renew(_ text: String) async throws -> SessionTokens {
        let (token, session) = try await presented(text)
        guard session != nil else {
            throw token.endsAt <= clock.now() ? AccountError.refreshTokenExpired : .refreshTokenInvalid
        }
        // A refusal also ends a session, so it is no error of the transaction, which would undo that.
        return try await write { transaction, now -> Result<SessionTokens, AccountError> in
            guard let session = try transaction.session(refresh: token) else { return .failure(.refreshTokenInvalid) }
            guard ConstantTime.areEqual(session.refreshDigest, token.digest) else {
                try transaction.end(session)
                return .failure(.refreshTokenReused)
            }
            guard now < session.endsAt else { return .failure(.refreshTokenExpired) }
            let tokens = SessionTokens(of: session.user, continuing: session, at: now, transaction.randomness)
            try transaction.database.execute(
                """
                UPDATE session SET refresh_digest = $1, previous_access_digest = access_digest, access_digest = $2,
                    ends_at = $3
                WHERE user_id = $4 AND session_id = $5
                """,
                [tokens.refresh.digest, tokens.access.digest, tokens.refresh.endsAt, session.user, session.identifier])
            return .success(tokens)
        }.get()
    }

    /// Ends a session by its current or an earlier refresh token. An earlier one may be a stolen copy, for which ending the
    /// session is right as well. A session that has ended stays unchanged.
    ///
    /// - Throws: `AccountError.refreshTokenInvalid` for a malformed text.
    package func endSession(_ text: String) async throws {
        guard let session = try await presented(text).session else { return }
        try await ledger.write { try $0.end(session) }
    }

    /// The session of a refresh token. This reads alone, so that tokens without a session cause no writes.
    private func presented(_ text: String) async throws -> (token: SessionToken, session: SessionRecord?) {
        guard let token = SessionToken(.refresh, text) else { throw AccountError.refreshTokenInvalid }
        return (token, try await ledger.read { try $0.session(refresh: token) })
    }
}

package enum AccountError: String, RuledError, CaseIterable {
    case emailInvalid
    case emailTooLong
    case emailTaken
    /// The address has no account, or the password is wrong. The error does not say which, for security.
    case credentialsWrong
    case refreshTokenInvalid
    case refreshTokenExpired
    case refreshTokenReused
    case accountNotFound
    /// The link is unknown, used, or for another purpose.
    case linkInvalid
    case linkExpired
    /// The account has verified its address already.
    case emailVerified
    case emailUnchanged
    /// The mail limit of the address or the account is reached.
    case mailTooOften

    package var rule: ErrorRule {
        switch self {
        case .emailInvalid:
            ErrorRule(
                rawValue, .unprocessable, "The e-mail address is invalid. It must have the form name@example.com.",
                korean: "이메일 주소가 올바르지 않습니다. name@example.com과 같은 형식이어야 합니다.")
        case .emailTooLong:
            ErrorRule(
                rawValue, .unprocessable, "The e-mail address is longer than \(EmailAddress.maximumLength) bytes.",
                korean: "이메일 주소가 \(EmailAddress.maximumLength)바이트를 넘습니다.")
        case .emailTaken:
            ErrorRule(
                rawValue, .conflict, "The e-mail address has an account. Log in, or sign up with another.",
                korean: "이 이메일 주소의 계정이 있습니다. 로그인하거나 다른 주소로 가입하세요.")
        case .credentialsWrong:
            ErrorRule(
                rawValue, .unauthorized, "No account has this e-mail address and password.",
                korean: "이메일 주소나 비밀번호가 올바르지 않습니다.")
        case .refreshTokenInvalid:
            ErrorRule(
                rawValue, .unauthorized, "The refresh token is unknown, or its session has ended. Log in.",
                korean: "알 수 없는 갱신 토큰이거나 세션이 끝났습니다. 로그인하세요.")
        case .refreshTokenExpired:
            ErrorRule(
                rawValue, .unauthorized, "The refresh token has expired. Log in.",
                korean: "갱신 토큰이 만료되었습니다. 로그인하세요.")
        case .refreshTokenReused:
            ErrorRule(
                rawValue, .unauthorized,
                "The refresh token was used before, so it may be stolen. Its session was ended; log in.",
                korean: "이미 사용한 갱신 토큰이므로 도난당했을 수 있습니다. 세션을 끝냈습니다. 로그인하세요.")
        case .accountNotFound:
            ErrorRule(
                rawValue, .notFound, "The user has no account of this service.", korean: "사용자에게 이 서비스의 계정이 없습니다.")
        case .linkInvalid:
            ErrorRule(
                rawValue, .unprocessable, "The link is unknown, used, or for another purpose. Ask for a new one.",
                korean: "알 수 없거나 이미 사용했거나 용도가 다른 링크입니다. 새 링크를 요청하세요.")
        case .linkExpired:
            ErrorRule(
                rawValue, .unprocessable, "The link has expired. Ask for a new one.",
                korean: "링크가 만료되었습니다. 새 링크를 요청하세요.")
        case .emailVerified:
            ErrorRule(
                rawValue, .conflict, "The account has verified its e-mail address already. Nothing was changed.",
                korean: "계정의 이메일 주소를 이미 확인했습니다. 아무것도 바꾸지 않았습니다.")
        case .emailUnchanged:
            ErrorRule(
                rawValue, .unprocessable, "The account already has this e-mail address. Give another one.",
                korean: "계정에 이미 이 이메일 주소가 있습니다. 다른 주소를 입력하세요.")
        case .mailTooOften:
            ErrorRule(
                rawValue, .tooManyRequests, mayRetry: true, secondsToWait: 3600,
                "The limit of mails per hour is reached. Look for the earlier mails, or wait.",
                korean: "한 시간에 보내는 메일의 한도에 이르렀습니다. 앞서 받은 메일을 찾거나 기다리세요.")
        }
    }
}
