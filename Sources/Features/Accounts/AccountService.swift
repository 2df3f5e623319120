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
