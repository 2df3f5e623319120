import Commerce
import Signatures

extension LedgerTransaction {
    /// What stands in place of a text that is erased.
    private static var erased: String { "erased" }

    /// Erases who a user is: the name, the account, the profile, what people have written. What was redeemed stays redeemed, by
    /// a tombstone whose name is chance, so that no proof of it can be redeemed anew; and so does the audit log's chain.
    ///
    /// - Parameter account: The user's, as it was when its password was shown; nil where none has to be.
    /// - Returns: false where the ledger has not seen the user, or the account is another by now.
    public func erase(
        _ user: User,
        showing account: AccountRecord?,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws -> Bool {
        if let account, try unchanged(account, in: database) == nil { return false }
        // Kept before it was known whom answers are about, or for a user not seen before.
        try database.execute(
            "DELETE FROM kept_answer WHERE caller = $1 AND user_id IS NULL", [IdempotencyKey.caller(user)])
        let erased = user
        guard let user = try users.known(user) else { return false }
        if let email = try AccountRecords(database: database).account(of: user)?.emailLowercase {
            try database.delete(from: "account_email", where: ["email_lowercase"], [[email]])
        }
        // What refers to others first.
        for table in [
            "session", "account", "profile", "chosen_item", "wish", "member", "user_change",
            "kept_answer", "kept_proof",
        ] {
            try database.execute("DELETE FROM \(table) WHERE user_id = $1", [user])
        }
        try WebhookRecords(database: database).erase(of: user)
        try eraseTexts(of: user, in: database)
        let name = randomness.bytes(16).hexadecimal
        try users.rename(user, from: erased, to: User.erasedIssuer, name)
        try audit.append(
            AuditEntry(
                happenedAt: moment, event: .erased, actor: actor, origin: nil, reference: name, subject: "user",
                reason: nil),
            to: user)
        return true
    }

    /// What people have written about a user.
    private func eraseTexts(of user: Int64, in database: any LedgerDatabase) throws {
        // Of a refusal, the reason is a code.
        try database.execute(
            """
            UPDATE audit SET reason = NULL, reason_salt = NULL
            WHERE user_id = $1 AND reason IS NOT NULL AND event <> 'refused'
            """,
            [user])
        try database.execute(
            """
            UPDATE team_grant SET reason = $1,
                revocation_reason = CASE WHEN revocation_reason IS NULL THEN NULL ELSE $1 END
            WHERE user_id = $2
            """,
            [Self.erased, user])
        try database.execute(
            "UPDATE spending SET reason = $1, idempotency_key = NULL, request_digest = NULL WHERE user_id = $2",
            [Self.erased, user])
        try database.execute(
            "UPDATE team_revocation SET reason = $1 WHERE user_id = $2", [Self.erased, user])
    }
}
