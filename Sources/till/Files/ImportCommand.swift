import ArgumentParser
import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import Service
import Vocabulary

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import the customers of another purchase server.",
        subcommands: [ImportRevenueCat.self])
}

struct ImportRevenueCat: LedgerUser {
    /// The number of customers of one commit.
    private static let batchSize = 100
    /// The actor in the audit log, as of other commands that need no API key.
    private static let caller = "process"

    static let configuration = CommandConfiguration(
        "revenuecat", "Import a scheduled data export of RevenueCat: customers, promotions and expected purchases.",
        """
        The file is the CSV of the transactions. Promotions become grants. A purchase of the App Store is expected: it \
        grants nothing until the App Store's signature confirms it, in the app's next proof, in a notification, or in the \
        reconciliation. The command reads the whole file before it writes, and a second import changes nothing. It lists \
        all that it does not import, and ends with status 1 if a line is invalid. The service may run.
        """,
        examples: """
            till import revenuecat transactions.csv --dry-run
            till import revenuecat transactions.csv
            till import revenuecat transactions.csv --accept apple/Sandbox
            """)

    @Argument(help: .value("file", "The export in CSV, not compressed."))
    var file: String

    @Flag(help: "Report what the import would do, and import nothing.")
    var dryRun = false

    @Option(help: .value("origin", "The accepted origins (one; rows of a sandbox need that of a sandbox)."))
    var accept = Origin.appleProduction

    @Option(help: .value("name", "A further id that stands for no customer, as for till serve (may be repeated)."))
    var blockedUserNames: [String] = []

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try require(accept != .xcode, "Purchases of Xcode are not in an export. Name another origin with --accept.")
    }

    func perform() async throws {
        let clock = SystemClock()
        // A wrong name creates no ledger.
        let file = try ExportFile(path: file)
        let blockedNames = BlockedNames(adding: blockedUserNames)
        let ledger = try ledger.place(isNew: true).open().blocking(blockedNames)
        let files = try await knownConfiguration(of: ledger, accepting: [accept]).apps
        let apps = try await CatalogService(apps: files, ledger: ledger, clock: clock).apps
        let rules = apps.first.catalog.exportRules(accepting: accept, blocking: blockedNames, at: clock.now())
        let export = try file.read(by: rules)
        var report = ImportReport(export, isDryRun: dryRun)
        var rest = export.customers()[...]
        let importing = Progress("Importing the customers")
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Self.batchSize))
            rest = rest.dropFirst(Self.batchSize)
            report.add(try await add(batch, to: ledger, at: clock.now()), customers: batch.count)
        }
        importing.end()
        report.lines.forEach(terminal.line)
        if !dryRun, report.counts.expectedPurchases > 0 {
            terminal.line(
                "The expected purchases grant nothing yet. A proof from the app or the App Store confirms each.")
        }
        try terminal.json(report.json)
        if report.invalidCount > 0 {
            try terminal.end(
                "\(report.invalidCount) lines are invalid and were not imported. Correct them, and import the file again."
            )
        }
    }

    /// The end of a dry run, which undoes the changes of its transaction.
    private struct DryRun: Error {
        let batch: ImportedBatch
    }

    private func add(
        _ customers: [ExportImport.Customer], to ledger: Ledger, at moment: Timestamp
    ) async throws -> ImportedBatch {
        let isDryRun = dryRun
        do {
            return try await ledger.write { transaction in
                var batch = ImportedBatch()
                for customer in customers {
                    let counts = try transaction.add(
                        imported: customer.user, aliases: customer.aliases, grants: customer.grants,
                        purchases: customer.purchases, by: Self.caller, at: moment)
                    batch.counts = batch.counts + counts
                    guard !customer.attributes.isEmpty else { continue }
                    do {
                        try transaction.state(customer.attributes, of: customer.user, at: moment)
                        batch.attributes += Set(customer.attributes.map { ByteKey($0.name) }).count
                    } catch AttributeError.tooMany {
                        batch.refusedAttributeCustomers += 1
                    }
                }
                if isDryRun { throw DryRun(batch: batch) }
                return batch
            }
        } catch let end as DryRun {
            return end.batch
        }
    }
}

/// The counts of the customers of one commit.
struct ImportedBatch {
    var counts = CustomerImport()
    var attributes = 0
    /// The number of customers whose attributes are too many.
    var refusedAttributeCustomers = 0
}

/// A file of a scheduled data export.
struct ExportFile {
    private static let chunkSize = 1 << 18

    private let path: String
    private let handle: FileHandle

    /// - Throws: `ExportFileError.unreadable`.
    init(path: String) throws(ExportFileError) {
        self.path = path
        let handle = NamedFile.handle(of: URL(filePath: path, directoryHint: .notDirectory))
        guard let handle else { throw .unreadable(path: path) }
        self.handle = handle
    }

    /// Reads all rows.
    ///
    /// - Throws: `ExportFileError`.
    func read(by rules: ExportRules) throws -> ExportImport {
        var isFirst = true
        var reader = CSVReader { () throws -> Data in
            let data: Data
            do { data = try handle.read(upToCount: Self.chunkSize) ?? Data() } catch {
                throw ExportFileError.unreadable(path: path)
            }
            defer { isFirst = false }
            // The first bytes of gzip (RFC 1952).
            if isFirst, data.starts(with: [0x1F, 0x8B]) { throw ExportFileError.compressed(path: path) }
            return data
        }
        var export = try ExportImport(header: try reader.next(), by: rules)
        while let record = try reader.next() { export.add(record) }
        return export
    }
}

/// The result of an import, for a person and as JSON.
struct ImportReport {
    /// The number of invalid lines that are printed.
    private static let maximumPrinted = 20

    let rows: Int
    let isDryRun: Bool
    let invalidCount: Int
    private let invalidLines: [ExportImport.InvalidLine]
    private var exclusions: [ExportExclusion: Int]
    private(set) var customers = 0
    private(set) var attributes = 0
    private(set) var counts = CustomerImport()

    init(_ export: ExportImport, isDryRun: Bool) {
        rows = export.rows
        self.isDryRun = isDryRun
        invalidCount = export.invalidCount
        invalidLines = export.invalidLines
        exclusions = export.exclusions
    }

    mutating func add(_ batch: ImportedBatch, customers: Int) {
        self.customers += customers
        attributes += batch.attributes
        counts = counts + batch.counts
        exclude(.attributesTooMany, batch.refusedAttributeCustomers)
        exclude(.otherCustomerInLedger, batch.counts.otherPurchases)
        exclude(.aliasOfOtherCustomer, batch.counts.otherAliases)
    }

    private mutating func exclude(_ exclusion: ExportExclusion, _ count: Int) {
        if count > 0 { exclusions[exclusion, default: 0] += count }
    }

    private var sorted: [(exclusion: ExportExclusion, count: Int)] {
        exclusions.sorted { ($1.value, $0.key.code) < ($0.value, $1.key.code) }.map { ($0.key, $0.value) }
    }

    var lines: [String] {
        var lines = isDryRun ? ["Dry run: nothing was imported."] : []
        let table = TextTable(
            header: ["IMPORTED", "", ""],
            [
                ["customers", "\(customers)", "\(counts.newCustomers) new"], ["further ids", "\(counts.aliases)", ""],
                ["attributes", "\(attributes)", ""],
                ["grants", "\(counts.newGrants)", "\(counts.knownGrants) of an earlier import"],
                ["purchases expected", "\(counts.expectedPurchases)", ""],
                ["purchases confirmed", "\(counts.confirmedPurchases)", ""],
            ])
        lines += table.lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
        if !exclusions.isEmpty {
            let rows = sorted.map { ["\($0.count)", $0.exclusion.sentence] }
            lines += [""] + TextTable(header: ["NOT IMPORTED", "REASON"], rows).lines
        }
        guard invalidCount > 0 else { return lines }
        let rows = invalidLines.prefix(Self.maximumPrinted).map { ["\($0.line)", $0.reason] }
        lines += [""] + TextTable(header: ["INVALID LINE", "REASON"], rows).lines
        if invalidCount > Self.maximumPrinted {
            let more = invalidCount - Self.maximumPrinted
            lines.append("and \(more) more; --json lists up to \(ExportImport.maximumListed)")
        }
        return lines
    }

    var json: Report {
        let lines: [Report] = invalidLines.map { ["line": $0.line, "reason": $0.reason] }
        return [
            "rows": rows, "isDryRun": isDryRun, "customers": customers, "newCustomers": counts.newCustomers,
            "aliases": counts.aliases, "attributes": attributes, "newGrants": counts.newGrants,
            "knownGrants": counts.knownGrants, "expectedPurchases": counts.expectedPurchases,
            "confirmedPurchases": counts.confirmedPurchases,
            "notImported": Dictionary(uniqueKeysWithValues: exclusions.map { ($0.key.code, $0.value) }),
            "invalidCount": invalidCount, "invalidLines": lines,
        ]
    }
}
