import Commerce
import Foundation
import Ledger
import Signatures

/// The accounts that an app's users have with the service itself: opened, entered, left and ended.
///
/// Each use case that needs a password has two halves, as a redemption has: hashing takes the processor's time and nothing of
/// the ledger, the rest is one call of the ledger. So whoever serves can have the first done where it holds up nobody.
public struct AccountService: Sendable {
    /// Milliseconds for which an access token is good.
    static let accessTime: Int64 = 15 * 60 * 1000
    /// The same of a refresh token: how long a device may stay away.
    static let refreshTime: Int64 = 60 * 86_400 * 1000

    let ledger: Ledger
    let clock: any WallClock
    let randomness: Randomness
    /// True if the address of a new account gets a mail with a link that verifies it.
    private let sendsMail: Bool
    private let cost: PasswordHash.Cost
    /// Of no password: what is looked at where there is no account, so that it takes as long.
    private let decoy: PasswordHash

    /// - Parameters:
    ///   - sendsMail: Whether somebody sends the mails that are queued.
    ///   - cost: Of one guess at a password.
    public init(
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
        decoy = PasswordHash(ofNothing: randomness.bytes(32), cost: cost)
    }

    /// Somebody who is in, and what their device is given.
    public struct Entrance: Sendable {
        public let account: AccountRecord
        public let tokens: SessionTokens
    }

    /// Erases who a user is who has shown an account's password. What they have redeemed stays redeemed, by nobody.
    ///
    /// - Throws: `AccountError`, `passwordWrong` where the account has ended or has another password by now.
    public func erase(_ account: AccountRecord, by actor: AuditActor, at moment: Timestamp) async throws {
        let isErased = try await ledger.write { try $0.erase(account, by: actor, at: moment) }
        guard isErased else { throw AccountError.passwordWrong }
    }

    /// Whether nobody has an account of an address.
    public func isAvailable(_ email: EmailAddress) async throws -> Bool {
        try await ledger.read { try $0.account(emailLowercase: email.lowercase) } == nil
    }

    /// An account that is not open yet; takes as long as a hash.
    public func newAccount(_ email: EmailAddress, _ password: Password) throws(AccountError) -> AccountRecord {
        let name = UUID(randomness: randomness).lowercasedString
        // A UUID is a name.
        guard let user = User(issuer: User.accountIssuer, name: name) else { throw .accountNotFound }
        return AccountRecord(
            user: user, email: email.text, emailLowercase: email.lowercase, passwordHash: try hash(password),
            createdAt: clock.now())
    }

    /// Opens an account, and lets its user in.
    ///
    /// - Parameter language: The language of the mail that verifies the address, if mail is sent.
    /// - Throws: `AccountError`, `emailTaken`.
    public func open(_ account: AccountRecord, language: String = "en") async throws -> Entrance {
        let tokens = try await ledger.write { transaction -> SessionTokens? in
            guard let user = try transaction.open(account) else { return nil }
            if sendsMail {
                // A mailbox that has had enough keeps nobody out: the user asks for the mail later.
                _ = try transaction.queueVerification(of: account, user, in: language, at: account.createdAt)
            }
            return try begin(of: user, in: transaction)
        }
        guard let tokens else { throw AccountError.emailTaken }
        return Entrance(account: account, tokens: tokens)
    }

    /// The account of an address, as it was written; nil where there is none.
    public func account(email: String) async throws -> AccountRecord? {
        guard let email = try? EmailAddress(email) else { return nil }
        return try await ledger.read { try $0.account(emailLowercase: email.lowercase) }
    }

    public func account(of user: User) async throws -> AccountRecord {
        let account = try await ledger.read { try $0.account(of: user) }
        guard let account else { throw AccountError.accountNotFound }
        return account
    }

    /// Whether a password is an account's; takes as long as a hash, with an account and without.
    public func isPassword(_ password: String, of account: AccountRecord?) throws(AccountError) -> Bool {
        // What is too long to be chosen is nobody's; it takes as long as what is not.
        let isShort = password.utf8.count <= Password.maximumLength
        let text = isShort ? Password.composed(password) : ""
        guard let hash = account.map({ PasswordHash($0.passwordHash) }) ?? decoy else { throw .passwordNotHashed }
        let matches: Bool
        do { matches = try hash.matches(text) } catch { throw .passwordNotHashed }
        return matches && isShort && account != nil
    }

    /// Lets somebody in who has shown an account's password.
    ///
    /// - Throws: `AccountError`, `credentialsWrong` where the account has ended or has another password by now.
    public func enter(_ account: AccountRecord) async throws -> Entrance {
        let tokens = try await ledger.write { transaction in
            try transaction.unchanged(account).map { try begin(of: $0, in: transaction) }
        }
        guard let tokens else { throw AccountError.credentialsWrong }
        return Entrance(account: account, tokens: tokens)
    }

    /// A hash for a new password; takes its time.
    public func hash(_ password: Password) throws(AccountError) -> String {
        do {
            return try PasswordHash(password.text, salt: randomness.bytes(16), cost: cost).description
        } catch {
            throw .passwordNotHashed
        }
    }

    /// Gives an account another password; whoever else is logged in is so no more.
    ///
    /// - Parameters:
    ///   - hash: Of the new one.
    ///   - token: The access token of who asks.
    public func setPasswordHash(
        _ hash: String,
        of account: AccountRecord,
        from token: String
    ) async throws {
        let session = SessionToken(.access, token)?.session.identifier ?? []
        let isSet = try await ledger.write { try $0.setPasswordHash(hash, of: account, keeping: session) }
        guard isSet else { throw AccountError.passwordWrong }
    }
}
