import Proofs

/// The record of a caller's API key. It has no secret.
package struct APIKeyRecord: Hashable, Sendable {
    /// The beginning of the key, by which people and logs name it. A public key is its own identifier.
    package let identifier: String
    /// The name that its maker gave it.
    package let name: String
    /// The scopes, in words of the service's.
    package let scopes: [String]
    /// The bundle identifier of the only app that it is for; nil for all apps.
    package let app: String?
    /// The platform of an app's public key; nil for the secret key of a back end.
    package let platform: String?
    /// The SHA-256 of the secret; for a public key, of the key.
    let secretDigest: [UInt8]
    package let createdAt: Timestamp
    /// The time from which the service refuses the key; nil if it does not expire.
    package let expiresAt: Timestamp?
    /// The time of the last recorded use, at most about an hour old; nil before the first.
    package let lastUsedAt: Timestamp?
    /// The time of its revocation; nil if it was not revoked.
    package let revokedAt: Timestamp?

    /// True if the service accepts the key at a moment.
    package func isValid(at moment: Timestamp) -> Bool {
        revokedAt == nil && expiresAt.map { moment < $0 } ?? true
    }
}

extension APIKeyRecord {
    static let columns = """
        key_id, name, scopes, app, platform, secret_digest, created_at, expires_at, last_used_at, revoked_at
        """

    init(_ row: inout ResultRow) throws(ColumnMismatch) {
        self.init(
            identifier: try row.next(), name: try row.next(),
            scopes: (try row.next() as String).split(separator: " ").map(String.init), app: try row.next(),
            platform: try row.next(), secretDigest: try row.next(), createdAt: try row.next(),
            expiresAt: try row.next(), lastUsedAt: try row.next(), revokedAt: try row.next())
    }

    /// The values of the columns, in their order.
    var sqlValues: [any SQLConvertible] {
        [
            identifier, name, scopes.joined(separator: " "), app, platform, secretDigest, createdAt, expiresAt,
            lastUsedAt, revokedAt,
        ]
    }

    /// A new key, which is not stored yet.
    package init(
        identifier: String,
        name: String,
        scopes: [String],
        app: String? = nil,
        platform: String? = nil,
        key: String,
        createdAt: Timestamp,
        expiresAt: Timestamp? = nil
    ) {
        self.init(
            identifier: identifier, name: name, scopes: scopes, app: app, platform: platform,
            secretDigest: Self.digest(of: key), createdAt: createdAt, expiresAt: expiresAt, lastUsedAt: nil,
            revokedAt: nil)
    }

    private static func digest(of key: String) -> [UInt8] {
        DigestAlgorithm.sha256.digest(of: Array(key.utf8))
    }

    /// True if a key is this one. The comparison takes the same time for every wrong key.
    package func isRecord(of key: String) -> Bool {
        ConstantTime.areEqual(Self.digest(of: key), secretDigest)
    }
}

/// The API keys of the ledger.
extension LedgerTransaction {
    package func add(_ key: APIKeyRecord) throws {
        _ = try database.execute(
            """
            INSERT INTO api_key (\(APIKeyRecord.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """,
            key.sqlValues)
    }

    /// All API keys, revoked ones included, oldest first.
    package func apiKeys() throws -> [APIKeyRecord] {
        try database.rows("SELECT \(APIKeyRecord.columns) FROM api_key ORDER BY created_at, key_id") {
            try APIKeyRecord(&$0)
        }
    }

    package func apiKey(_ identifier: String) throws -> APIKeyRecord? {
        try database.row("SELECT \(APIKeyRecord.columns) FROM api_key WHERE key_id = $1", [identifier]) {
            try APIKeyRecord(&$0)
        }
    }

    /// The names of all API keys by their identifiers, those of revoked keys included.
    package func apiKeyNames() throws -> [String: String] {
        try database.dictionary("SELECT key_id, name FROM api_key") { (try $0.next(), try $0.next()) }
    }

    /// Records the last use of a key, unless a later one is recorded.
    package func recordUse(ofAPIKey identifier: String, at moment: Timestamp) throws {
        _ = try database.execute(
            "UPDATE api_key SET last_used_at = $1 WHERE key_id = $2 AND coalesce(last_used_at, 0) < $3",
            [moment, identifier, moment])
    }

    /// Revokes a key. A key that was revoked before stays as it is.
    ///
    /// - Returns: False if there is no such key.
    package func revokeAPIKey(_ identifier: String, at moment: Timestamp) throws -> Bool {
        try database.execute(
            "UPDATE api_key SET revoked_at = coalesce(revoked_at, $1) WHERE key_id = $2", [moment, identifier]) == 1
    }
}
