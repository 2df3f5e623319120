import ArgumentParser
import HTTPSupport
import Ledger
import Proofs

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and revoke the API keys of back ends and apps.",
        subcommands: [KeysMake.self, KeysList.self, KeysRevoke.self])
}

struct KeysList: LedgerUser {
    static let configuration = CommandConfiguration(
        "list", "List the API keys (secrets are not stored).",
        """
        The scope of an app's public key is its platform, such as "public apple". Its id is the key.

        LAST USED is at most about an hour old.
        """,
        examples: "till keys list")

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let keys = try await ledger.place().apiKeys().list()
        terminal.table(
            ["ID", "NAME", "SCOPES", "APP", "MADE", "EXPIRES", "LAST USED", "REVOKED"],
            keys.map { key in
                [
                    key.identifier, key.name, key.platform.map { "public \($0)" } ?? key.scopes.joined(separator: ","),
                    key.app, key.createdAt.rfc3339, key.expiresAt?.rfc3339, key.lastUsedAt?.rfc3339,
                    key.revokedAt?.rfc3339,
                ]
            })
        try terminal.json(["keys": keys.map { $0.report() }])
    }
}

struct KeysRevoke: LedgerUser {
    static let configuration = CommandConfiguration(
        "revoke", "Revoke an API key. The service refuses it from the next request on.",
        examples: "till keys revoke 5e5ac1a1b2c3")

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

extension APIKeyRecord {
    /// The API key in the output of commands.
    ///
    /// - Parameter key: The key itself, which only the command that makes it prints.
    func report(key: String? = nil) -> Report {
        [
            "key": key, "id": identifier, "name": name, "scopes": scopes, "app": app, "platform": platform,
            "createdAt": createdAt.rfc3339, "expiresAt": expiresAt?.rfc3339, "lastUsedAt": lastUsedAt?.rfc3339,
            "revokedAt": revokedAt?.rfc3339,
        ]
    }

    /// The scopes or the platform of the key, its app and its expiry, in sentences.
    var limits: String {
        let kind = platform.map { "Public key for \($0)." } ?? "Scopes: \(scopes.joined(separator: ", "))."
        let app = app.map { "App: \($0)." }
        return ([kind, app, expiresAt.map { "Expires: \($0.rfc3339)." }] as [String?]).compactMap(\.self)
            .joined(separator: " ")
    }
}
