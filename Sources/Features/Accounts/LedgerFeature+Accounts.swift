import Ledger

extension LedgerFeature {
    /// The accounts of users with the service itself.
    package static let accounts = LedgerFeature(tables: [.accountEmail, .account, .session])
}

extension Table {
    fileprivate static let accountEmail = Table(
        name: "account_email", family: .globalKey, columns: [.text("email_lowercase"), .integer("user_id")],
        key: ["email_lowercase"], owner: (table: "account", keyName: "An e-mail address"))

    /// An account. The lower-case form of the e-mail address identifies it.
    fileprivate static let account = Table(
        name: "account", family: .userData,
        columns: [
            .integer("user_id"), .text("email"), .text("email_lowercase"), .text("password_hash"),
            .integer("created_at"), .integer("email_verified_at").optional,
        ],
        key: ["user_id"], erasure: .deletion)

    /// A session. The ledger stores only the digests of tokens. The previous access token is valid until it expires; the
    /// previous refresh token is not.
    fileprivate static let session = Table(
        name: "session", family: .userData,
        columns: [
            .integer("user_id"), .blob("session_id", count: 16), .blob("refresh_id", count: 16),
            .blob("refresh_digest", count: 32), .blob("access_digest", count: 32),
            .blob("previous_access_digest", count: 32).optional, .integer("began_at"),
            .integer("ends_at", check: "ends_at > began_at"),
        ],
        key: ["user_id", "session_id"],
        erasure: .deletion, restoration: .sessionDeletion
    )
    .referring(to: "account", by: ["user_id"])
    .indexed("session_by_end", by: ["ends_at"])
}

extension LedgerFeature {
    /// The mails about accounts, and the links in them.
    package static let accountMail = LedgerFeature(tables: [.accountLink, .addressChange, .mail, .mailCount])
}

extension Table {
    /// A mailed link. A used link is deleted. `email_lowercase` is the address that the link was mailed to.
    fileprivate static let accountLink = Table(
        name: "account_link", family: .userData,
        columns: [
            .integer("user_id"), .blob("digest", count: 32), .text("purpose"), .text("email_lowercase"),
            .integer("created_at"), .integer("ends_at", check: "ends_at > created_at"),
        ],
        key: ["user_id", "digest"], erasure: .deletion,
        restoration: .deletion
    )
    .referring(to: "account", by: ["user_id"])
    .indexed("account_link_by_end", by: ["ends_at"])

    /// A pending change of an account's address. An account has at most one.
    fileprivate static let addressChange = Table(
        name: "address_change", family: .userData,
        columns: [
            .integer("user_id"), .text("email"), .text("email_lowercase"), .integer("asked_at"),
            .integer("is_confirmed_at_old", check: "is_confirmed_at_old IN (0, 1)"),
            .integer("is_confirmed_at_new", check: "is_confirmed_at_new IN (0, 1)"),
        ],
        key: ["user_id"], erasure: .deletion,
        restoration: .deletion
    )
    .referring(to: "account", by: ["user_id"])
    .indexed("address_change_by_age", by: ["asked_at"])

    /// The queue of mails. It has neither texts nor secrets of links. `next_attempt_at` is null for a mail that was sent or
    /// given up.
    fileprivate static let mail = Table(
        name: "mail", family: .userData,
        columns: [
            .integer("user_id"), .text("mail_id"), .text("purpose"), .text("email"), .text("language"),
            .integer("created_at"), .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional,
            .integer("sent_at").optional, .text("error").optional,
        ],
        key: ["user_id", "mail_id"],
        checks: ["sent_at IS NULL OR next_attempt_at IS NULL"],
        erasure: .deletion, restoration: .deletion
    )
    .referring(to: "account", by: ["user_id"])
    .indexed("mail_due", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("mail_done", by: ["created_at"], where: "next_attempt_at IS NULL")

    /// The number of mails within an hour, to each address and about each account. The key is the SHA-256 of an address, with
    /// or without an account, or of an account's number.
    fileprivate static let mailCount = Table(
        name: "mail_count", family: .globalKey,
        columns: [
            .blob("subject_digest", count: 32), .integer("began_at"), .integer("mails", check: "mails > 0"),
        ],
        key: ["subject_digest"],
        restoration: .deletion
    )
    .indexed("mail_count_by_age", by: ["began_at"])
}
