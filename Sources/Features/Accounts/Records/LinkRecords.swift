import Ledger
import Proofs

/// The SQL of mailed links and changes of address, inside the caller's transaction.
struct LinkRecords {
    let database: any LedgerDatabase

    func insert(_ link: AccountLink) throws {
        try database.insert(
            into: "account_link", ["user_id", "digest", "purpose", "email_lowercase", "created_at", "ends_at"],
            [[link.user, link.digest, link.purpose.rawValue, link.emailLowercase, link.createdAt, link.endsAt]])
    }

    /// - Returns: Nil for a link that is unknown or used.
    func link(_ token: LinkToken) throws -> AccountLink? {
        try database.row(
            "SELECT * FROM account_link WHERE user_id = $1 AND digest = $2", [token.user, token.digest]
        ).map(Self.link)
    }

    func delete(_ link: AccountLink) throws {
        try database.delete(from: "account_link", where: ["user_id", "digest"], [[link.user, link.digest]])
    }

    /// Deletes the links of an account for some purposes, and its unsent mails with such links.
    func delete(_ purposes: [LinkPurpose], of user: Int64) throws {
        for purpose in purposes {
            let arguments: [any SQLConvertible] = [user, purpose.rawValue]
            try database.execute("DELETE FROM account_link WHERE user_id = $1 AND purpose = $2", arguments)
            try database.execute(
                "DELETE FROM mail WHERE user_id = $1 AND purpose = $2 AND next_attempt_at IS NOT NULL", arguments)
        }
    }

    /// Deletes the links, the unsent mails and the pending change of an account.
    func deleteAll(of user: Int64) throws {
        try delete(LinkPurpose.allCases, of: user)
        try database.execute("DELETE FROM address_change WHERE user_id = $1", [user])
    }

    func change(of user: Int64) throws -> AddressChange? {
        try database.row("SELECT * FROM address_change WHERE user_id = $1", [user]).map { row in
            AddressChange(
                email: try row["email"], emailLowercase: try row["email_lowercase"], askedAt: try row["asked_at"],
                isConfirmedAtOld: try row["is_confirmed_at_old"], isConfirmedAtNew: try row["is_confirmed_at_new"])
        }
    }

    /// Stores a change, and replaces an earlier one.
    func set(_ change: AddressChange, of user: Int64) throws {
        try database.execute("DELETE FROM address_change WHERE user_id = $1", [user])
        try database.insert(
            into: "address_change",
            ["user_id", "email", "email_lowercase", "asked_at", "is_confirmed_at_old", "is_confirmed_at_new"],
            [
                [
                    user, change.email, change.emailLowercase, change.askedAt, change.isConfirmedAtOld,
                    change.isConfirmedAtNew,
                ]
            ])
    }

    /// Deletes links and changes that ended before a moment.
    func delete(before moment: Timestamp) throws {
        try database.execute("DELETE FROM account_link WHERE ends_at <= $1", [moment])
        try database.execute("DELETE FROM address_change WHERE asked_at <= $1", [moment])
    }

    private static func link(_ row: SQLRow) throws -> AccountLink {
        guard let purpose = LinkPurpose(rawValue: try row["purpose"]) else { throw SQLRow.Mismatch(column: "purpose") }
        return AccountLink(
            user: try row["user_id"], digest: try row["digest"], purpose: purpose,
            emailLowercase: try row["email_lowercase"], createdAt: try row["created_at"], endsAt: try row["ends_at"])
    }
}
