import ArgumentParser
import Commerce
import Figures
import Foundation
import Ledger

/// `till export`
struct ExportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write transactions, customers or events into a file for analysis, as they are at one moment.",
        discussion: """
            It works while the service runs. A service answers the same part by part: GET /v1/exports/transactions.

            Examples:
              till export transactions sales.csv
              till export events events.jsonl --format jsonl
            """)

    @Argument(help: "What to export: transactions, customers or events.")
    var export: Export

    @Argument(help: ArgumentHelp("The file to make.", valueName: "file"))
    var file: String

    @Option(help: "The form of the file: csv or jsonl.")
    var format: ExportFormat = .csv

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let url = URL(filePath: file, directoryHint: .notDirectory)
        let exports = ExportService(ledger: try ledger.place(common).open(takesOver: false), clock: SystemClock())
        let rows = try NewFile.write(to: url) { write in try exports.write(export, as: format, to: write) }
        console.line("\(rows) rows in \(url.path)")
        try console.json(ExportCommandReport(file: url.path, rows: rows))
    }
}

private struct ExportCommandReport: Encodable {
    let file: String
    let rows: Int
}

extension Export: ExpressibleByArgument {}
extension ExportFormat: ExpressibleByArgument {}
