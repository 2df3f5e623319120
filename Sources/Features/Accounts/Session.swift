import Ledger
import Proofs
import Vocabulary

/// A token of a session. Its holder is treated as the logged-in user.
///
/// Its content is the identifier of the session (16 bytes), the user's number and the expiration in milliseconds since 1970
/// (8 bytes each, big-endian), and 19 random bytes. Access and refresh tokens have different identifiers, so an access token
/// cannot end a session. The user's number finds the session's row in a ledger that is sharded by it.
package struct SessionToken: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// Sent with each request; valid for minutes.
        case access = "ta_"
        /// Sent once, for a new pair.
        case refresh = "tr_"
    }

    private static let size = 51

    private let secret: Secret

    init(_ kind: Kind, of identifier: [UInt8], of user: Int64, endsAt: Timestamp, randomness: Randomness) {
        secret = Secret(
            kind.rawValue, of: identifier + user.bytes + endsAt.millisecondsSince1970.bytes, count: Self.size,
            randomness: randomness)
    }

    /// - Returns: Nil for a malformed text, or another kind.
    init?(_ kind: Kind, _ text: String) {
        guard let secret = Secret(kind.rawValue, presented: text, count: Self.size) else { return nil }
        self.secret = secret
    }

    package var text: String { secret.text }
    package var endsAt: Timestamp { Timestamp(millisecondsSince1970: secret.number(at: 24)) }
    /// The identifier of the session, 16 bytes.
    var identifier: [UInt8] { Array(secret.content[..<16]) }
    var user: Int64 { secret.number(at: 16) }
    var digest: [UInt8] { secret.digest }
}

/// The tokens of a log-in or a renewal. An access token is valid for minutes. A refresh token is valid once, for a new pair of
/// tokens. A second use shows that it was copied, and ends the session.
package struct SessionTokens: Hashable, Sendable {
    /// The lifetime of an access token, in seconds.
    private static let accessLifetime: Int64 = 15 * 60
    /// The lifetime of a refresh token, in days. A device may stay offline that long.
    private static let refreshLifetime: Int64 = 60
    /// The same in seconds.
    static let refreshSeconds = refreshLifetime * 86_400

    package let access: SessionToken
    package let refresh: SessionToken

    /// The latest end of an access token of a session.
    ///
    /// - Parameter end: The end of the session. If it was taken back, the tokens of the wrong clock end, too.
    static func accessEnd(of end: Timestamp) -> Timestamp {
        end.adding(days: -refreshLifetime).adding(seconds: accessLifetime)
    }

    /// - Parameter known: The session to continue; nil for a new one.
    init(
        of user: Int64, continuing known: SessionRecord? = nil, at moment: Timestamp, _ randomness: Randomness
    ) {
        access = SessionToken(
            .access, of: known?.identifier ?? randomness.bytes(16), of: user,
            endsAt: moment.adding(seconds: Self.accessLifetime), randomness: randomness)
        refresh = SessionToken(
            .refresh, of: known?.refreshIdentifier ?? randomness.bytes(16), of: user,
            endsAt: moment.adding(days: Self.refreshLifetime), randomness: randomness)
    }
}

/// A session of a device as the ledger stores it. It has only digests of the tokens.
package struct SessionRecord: Hashable, Sendable {
    /// The maximum number of sessions of an account.
    fileprivate static let maximumCount = 50

    let user: Int64
    /// The identifier in access tokens, 16 bytes. It stays the same from log-in to log-out.
    let identifier: [UInt8]
    /// The identifier in refresh tokens, 16 bytes.
    let refreshIdentifier: [UInt8]
    /// The SHA-256 of the valid refresh token.
    let refreshDigest: [UInt8]
    package let beganAt: Timestamp
    /// The expiration of the refresh token.
    package let endsAt: Timestamp
}

extension LedgerTransaction {
    /// Begins a session. It ends the oldest sessions above the account's limit, and deletes the expired sessions of all users.
    func beginSession(of user: Int64, at moment: Timestamp) throws -> SessionTokens {
        let tokens = SessionTokens(of: user, at: moment, randomness)
        try database.execute("DELETE FROM session WHERE ends_at <= $1", [moment])
        try database.execute(
            """
            DELETE FROM session WHERE user_id = $1 AND session_id IN (
                SELECT session_id FROM session WHERE user_id = $1
                ORDER BY began_at DESC, session_id LIMIT \(Int64.max) OFFSET \(SessionRecord.maximumCount - 1))
            """,
            [user])
        try database.insert(
            into: "session",
            ["user_id", "session_id", "refresh_id", "refresh_digest", "access_digest", "began_at", "ends_at"],
            [
                [
                    user, tokens.access.identifier, tokens.refresh.identifier, tokens.refresh.digest,
                    tokens.access.digest, moment, tokens.refresh.endsAt,
                ]
            ])
        return tokens
    }

    /// The session of a refresh token, also of an earlier one; nil if it has ended.
    func session(refresh token: SessionToken) throws -> SessionRecord? {
        try sessions("user_id = $1 AND refresh_id = $2", [token.user, token.identifier]).first
    }

    /// The sessions of a user, newest first.
    package func sessions(of user: User) throws -> [SessionRecord] {
        guard try database.has("session"), let user = try users.known(user) else { return [] }
        return try sessions("user_id = $1 ORDER BY began_at DESC, session_id", [user])
    }

    /// - Parameter condition: The SQL after `WHERE`.
    private func sessions(_ condition: String, _ arguments: [any SQLConvertible]) throws -> [SessionRecord] {
        try database.rows(
            "SELECT user_id, session_id, refresh_id, refresh_digest, began_at, ends_at FROM session WHERE \(condition)",
            arguments
        ) { row in
            SessionRecord(
                user: try row.next(), identifier: try row.next(), refreshIdentifier: try row.next(),
                refreshDigest: try row.next(), beganAt: try row.next(), endsAt: try row.next())
        }
    }

    /// Ends a session. One that has ended stays unchanged.
    func end(_ session: SessionRecord) throws {
        try database.delete(from: "session", where: ["user_id", "session_id"], [[session.user, session.identifier]])
    }
}
