import AppStoreClient
import ArgumentParser
import Commerce
import HTTPSupport
import Ledger
import Service
import StoreHTTP
import Wire

/// `till keys list`
struct KeysList: Command {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the API keys; what they were made of is not kept.",
        discussion: """
            Example:
              till keys list
            """)

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let reports = try await ledger.place(common).apiKeys().list().map(APIKeyReport.init)
        var table = TextTable(header: ["ID", "NAME", "SCOPES", "APP", "MADE", "REVOKED"])
        for report in reports {
            table.add([
                report.id, report.name, report.scopes.joined(separator: ","), report.app ?? "-", report.createdAt,
                report.revokedAt ?? "-",
            ])
        }
        table.lines.forEach(console.line)
        try console.json(["keys": reports])
    }
}

/// An API key as commands show it.
struct APIKeyReport: Encodable {
    let id: String
    let name: String
    let scopes: [String]
    /// The bundle identifier of the only app that the key is for; nil for all apps.
    let app: String?
    /// Dates are RFC 3339, UTC.
    let createdAt: String
    let revokedAt: String?

    init(_ record: APIKeyRecord) {
        id = record.identifier
        name = record.name
        scopes = record.scopes
        app = record.app
        createdAt = record.createdAt.rfc3339
        revokedAt = record.revokedAt?.rfc3339
    }
}
