import Commerce
import Foundation
import GRDB

/// The keys of callers.
extension SQLiteLedger {
    public func add(_ key: APIKeyRecord) throws(StorageFault) {
        try write { database in
            try database.execute(
                sql: """
                    INSERT INTO api_key (key_id, name, scopes, secret_digest, created_at, revoked_at)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    key.identifier, key.name, key.scopes.joined(separator: " "), Data(key.secretDigest),
                    key.createdAt.millisecondsSince1970, key.revokedAt?.millisecondsSince1970,
                ])
        }
    }

    public func apiKeys() throws(StorageFault) -> [APIKeyRecord] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM api_key ORDER BY created_at, key_id").map(Self.apiKey)
        }
    }

    public func apiKey(_ identifier: String) throws(StorageFault) -> APIKeyRecord? {
        try read { database in
            try Row.fetchOne(
                database.cachedStatement(sql: "SELECT * FROM api_key WHERE key_id = ?"), arguments: [identifier]
            ).map(Self.apiKey)
        }
    }

    public func revokeAPIKey(_ identifier: String, at moment: Timestamp) throws(StorageFault) -> Bool {
        try write { database in
            try database.execute(
                sql: "UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE key_id = ?",
                arguments: [moment.millisecondsSince1970, identifier])
            return database.changesCount == 1
        }
    }

    private static func apiKey(_ row: Row) -> APIKeyRecord {
        let scopes: String = row["scopes"]
        let digest: Data = row["secret_digest"]
        let revokedAt: Int64? = row["revoked_at"]
        return APIKeyRecord(
            identifier: row["key_id"], name: row["name"], scopes: scopes.split(separator: " ").map(String.init),
            secretDigest: Array(digest), createdAt: Timestamp(millisecondsSince1970: row["created_at"]),
            revokedAt: revokedAt.map(Timestamp.init(millisecondsSince1970:)))
    }
}
