import Ledger
import Proofs

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
