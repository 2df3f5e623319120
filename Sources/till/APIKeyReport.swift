import Ledger
import Proofs

/// An API key in the output of commands.
struct APIKeyReport: Encodable {
    let id: String
    let name: String
    let scopes: [String]
    /// The bundle identifier of the only app that the key is for; nil for all apps.
    let app: String?
    /// The platform of an app's public key, which is its own id; nil for a back end's key.
    let platform: String?
    /// Dates are RFC 3339, UTC.
    let createdAt: String
    let expiresAt: String?
    let lastUsedAt: String?
    let revokedAt: String?

    init(_ record: APIKeyRecord) {
        id = record.identifier
        name = record.name
        scopes = record.scopes
        app = record.app
        platform = record.platform
        createdAt = record.createdAt.rfc3339
        expiresAt = record.expiresAt?.rfc3339
        lastUsedAt = record.lastUsedAt?.rfc3339
        revokedAt = record.revokedAt?.rfc3339
    }

    /// The scopes or the platform of the key, its app and its expiry, in sentences.
    var limits: String {
        let kind = platform.map { "Public key for \($0)." } ?? "Scopes: \(scopes.joined(separator: ", "))."
        let app = app.map { "App: \($0)." }
        return ([kind, app, expiresAt.map { "Expires: \($0)." }] as [String?]).compactMap(\.self)
            .joined(separator: " ")
    }
}
