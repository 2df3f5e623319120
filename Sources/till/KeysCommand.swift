import AppStore
import ArgumentParser
import HTTPSupport
import Ledger
import Proofs
import Service

/// `till keys`
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and revoke the API keys of back ends and apps.",
        subcommands: [KeysMake.self, KeysList.self, KeysRevoke.self])
}

/// `till keys list`
struct KeysList: LedgerUser {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the API keys (secrets are not stored).",
        discussion: """
            The scope of an app's public key is its platform, such as "public apple". Its id is the key.

            LAST USED is at most about an hour old.

            Example:
              till keys list
            """)

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let reports = try await ledger.place().apiKeys().list().map { APIKeyReport($0) }
        terminal.table(
            ["ID", "NAME", "SCOPES", "APP", "MADE", "EXPIRES", "LAST USED", "REVOKED"],
            reports.map { report in
                [
                    report.id, report.name,
                    report.platform.map { "public \($0)" } ?? report.scopes.joined(separator: ","), report.app ?? "-",
                    report.createdAt, report.expiresAt ?? "-", report.lastUsedAt ?? "-", report.revokedAt ?? "-",
                ]
            })
        try terminal.json(["keys": reports])
    }
}

/// `till keys revoke`
struct KeysRevoke: LedgerUser {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke an API key. The service refuses it from the next request on.",
        discussion: """
            Example:
              till keys revoke 5e5ac1a1b2c3
            """)

    @Argument(help: "The id of the key, from `till keys list`.")
    var id: String

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        guard try await ledger.place().apiKeys().revoke(id) else {
            try terminal.fail(
                code: "keyUnknown",
                message:
                    "No API key has the id \"\(id)\". \(common.hint("keys", "list", options: ledger.options)) lists the keys."
            )
        }
        terminal.line("Revoked: \(id)")
        try terminal.json(["revoked": id])
    }
}

/// An API key in the output of commands.
struct APIKeyReport: Encodable {
    /// The key itself, which only the command that makes it prints.
    let key: String?
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

    init(_ record: APIKeyRecord, key: String? = nil) {
        self.key = key
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
