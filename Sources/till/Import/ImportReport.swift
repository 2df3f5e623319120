import Features
import Service

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

    /// The lines for a person.
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

    /// The result as JSON.
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
