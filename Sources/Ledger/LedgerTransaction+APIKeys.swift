import Proofs

/// The keys of callers.
extension LedgerTransaction {
    package func add(_ key: APIKeyRecord) throws {
        _ = try database.execute(
            """
            INSERT INTO api_key
                (key_id, name, scopes, secret_digest, created_at, revoked_at, app, expires_at, last_used_at,
                platform)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """,
            [
                key.identifier, key.name, key.scopes.joined(separator: " "), key.secretDigest, key.createdAt,
                key.revokedAt, key.app, key.expiresAt, key.lastUsedAt, key.platform,
            ])
    }

    /// All API keys, revoked ones included, oldest first.
    package func apiKeys() throws -> [APIKeyRecord] {
        try database.rows("SELECT * FROM api_key ORDER BY created_at, key_id").map(Self.apiKey)
    }

    package func apiKey(_ identifier: String) throws -> APIKeyRecord? {
        try database.row("SELECT * FROM api_key WHERE key_id = $1", [identifier]).map(Self.apiKey)
    }

    /// The names of all API keys by their identifiers, those of revoked keys included.
    package func apiKeyNames() throws -> [String: String] {
        Dictionary(
            try database.rows("SELECT key_id, name FROM api_key").map { (try $0["key_id"], try $0["name"]) },
            uniquingKeysWith: { first, _ in first })
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

    private static func apiKey(_ row: SQLRow) throws -> APIKeyRecord {
        let scopes: String = try row["scopes"]
        return APIKeyRecord(
            identifier: try row["key_id"], name: try row["name"],
            scopes: scopes.split(separator: " ").map(String.init), app: try row["app"], platform: try row["platform"],
            secretDigest: try row["secret_digest"],
            createdAt: try row["created_at"], expiresAt: try row["expires_at"],
            lastUsedAt: try row["last_used_at"], revokedAt: try row["revoked_at"])
    }
}
