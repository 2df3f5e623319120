import AppStore
import ArgumentParser
import Features
import Foundation
import Ledger
import Service

struct ExportCommand: LedgerUser, NamesOutput {
    static let configuration = CommandConfiguration(
        "export", "Write transactions, customers or events for analysis, into a file or to standard output.",
        """
        The command writes a snapshot of the ledger, and the service may run. With --server, a running service sends the \
        export in parts, without records made after the first part. After an interruption, the command prints how to \
        continue.
        """,
        examples: """
            till export transactions sales.csv
            till export events --format jsonl | grep refunded
            till export transactions --server https://shop.example.com > sales.csv
            """)

    /// The number of users of a part of a running service's answer.
    private static let partSize = Export.partSizes.upperBound
    private static let maximumParts = 1_000_000

    @Argument(help: "The records to export: transactions, customers or events.")
    var export: Export

    @Argument(help: .out("it must not exist; default: standard output"))
    var file: String?

    @Option(name: .customLong("out"), help: .out("it must not exist; default: standard output"))
    var named: String?

    @Option(help: "The format (of the file: csv or jsonl).")
    var format: ExportFormat = .csv

    @Option(help: .value("cursor", "With --server, the cursor at which an interrupted export continues."))
    var cursor: String?

    @OptionGroup var service: ServerOptions

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try require(
            service.server == nil || file == nil,
            "With --server, the export goes to standard output: leave out \"\(file ?? "")\", or put > before it.")
        try require(cursor == nil || service.server != nil, "--cursor needs --server.")
        try require(!common.json || file != nil, "--json needs a file to export into.")
    }

    func perform() async throws {
        if let client = try service.client() { return try await copy(from: client) }
        let ledger = try existingLedger()
        let apps = try await administration(of: ledger).apps
        guard let file else {
            _ = try export.write(ledger, as: format, product: apps.product, to: Self.output)
            return
        }
        let url = URL(filePath: file, directoryHint: .notDirectory)
        let exporting = Progress("Exporting the \(export.rawValue)")
        let rows = try NewFile.write(to: url) { write in
            try export.write(ledger, as: format, product: apps.product, to: write)
        }
        exporting.end()
        try terminal.rows(rows, "in", url)
    }

    private func copy(from client: ServiceClient) async throws {
        var parts = ListedPages(upTo: Self.maximumParts)
        var next: String? = ServiceClient.path(
            "/v1/exports/\(export.rawValue)",
            [("format", format.rawValue), ("pageSize", String(Self.partSize)), ("cursor", cursor)])
        while let path = next {
            let part: ServiceClient.ExportPart
            do {
                part = try await client.exportPart(path)
                try Self.output(part.body)
            } catch {
                if let cursor = Self.cursor(in: path) {
                    terminal.note("The export is not complete. Append the rest with the option --cursor \(cursor)")
                }
                throw error
            }
            do { next = try parts.next(part.next) } catch { throw ServiceUnreachable(reason: "its export has no end") }
        }
    }

    private static func cursor(in path: String) -> String? {
        URLComponents(string: path)?.queryItems?.first { $0.name == "cursor" }?.value
    }

    private static func output(_ bytes: Data) throws(BackupError) {
        do { try Terminal.copy(bytes) } catch {
            throw .notWritten(path: "Standard output")
        }
    }
}

extension Export: ExpressibleByArgument {}
extension ExportFormat: ExpressibleByArgument {}
