import Catalog
import Foundation
import Ledger
import Proofs

/// The exports for analysis. The raw value is the name in the API.
package enum Export: String, CaseIterable, Sendable {
    /// The redeemed transactions. The columns have the names of RevenueCat's export, if it has them.
    case transactions
    /// The users who are not erased.
    case customers
    /// The audit logs.
    case events

    var columns: [String] {
        switch self {
        case .transactions: ExportedTransaction.columns.map(\.name)
        case .customers:
            [
                "user", "user_issuer", "first_seen_time", "app_account_token", "transactions", "first_purchase_time",
                "last_purchase_time",
            ]
        case .events:
            [
                "user", "user_issuer", "number", "happened_at", "event", "actor", "origin", "reference", "subject",
                "reason", "actor_name",
            ]
        }
    }
}

package enum ExportFormat: String, CaseIterable, Sendable {
    /// RFC 4180, with a header.
    case csv
    /// JSON Lines, with one object per line and without null members.
    case jsonLines = "jsonl"

    package var contentType: String {
        switch self {
        case .csv: "text/csv; charset=utf-8; header=present"
        case .jsonLines: "application/jsonl"
        }
    }
}

/// A cell of an export. It is empty without a value.
enum ExportValue: Hashable, Sendable {
    case text(String?)
    case integer(Int64?)
    case bool(Bool)
    /// RFC 3339, UTC.
    case date(Timestamp?)
    /// Milliunits, which are exported as units.
    case amount(Int64?)
}

struct ExportText {
    /// The first characters of a formula. Spreadsheets of East Asia accept them in full width, too.
    private static let formulaBeginnings: Set<Unicode.Scalar> = Set("=+-@＝＋－＠﹦﹢﹣﹫\u{2212}".unicodeScalars)

    let export: Export
    let format: ExportFormat

    /// The text before the first row.
    var header: String {
        format == .csv ? export.columns.joined(separator: ",") + "\r\n" : ""
    }

    func text(of rows: [[ExportValue]]) -> String {
        switch format {
        case .csv: return rows.map { Self.cells($0) + "\r\n" }.joined()
        case .jsonLines:
            let columns = export.columns
            var bytes: [UInt8] = []
            for row in rows { Self.write(zip(columns, row), to: &bytes) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Cells in RFC 4180.
    static func cells(_ values: [ExportValue]) -> String { values.map(cell).joined(separator: ",") }

    /// A cell in RFC 4180. A text that a spreadsheet would interpret as a formula gets an apostrophe before it.
    static func cell(_ value: ExportValue) -> String {
        guard case .text(var text?) = value else { return plainText(value) ?? "" }
        if isFormula(text) { text = "'" + text }
        let isPlain = text.utf8.allSatisfy {
            $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n")
        }
        return isPlain ? text : quoted(text)
    }

    /// True if a spreadsheet could interpret a text as a formula. It may skip spaces and invisible characters before one, and a line
    /// break could begin another cell.
    private static func isFormula(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first else { return false }
        if first == "\t" || first == "\r" || first == "\n" { return true }
        let shown = text.unicodeScalars.first { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator: false
            default: true
            }
        }
        return shown.map(formulaBeginnings.contains) ?? false
    }

    /// Quotes by bytes, because a combining mark after a quotation mark forms another character with it.
    private static func quoted(_ text: String) -> String {
        let quote = UInt8(ascii: "\"")
        var bytes = [quote]
        for byte in text.utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        return String(decoding: bytes + [quote], as: UTF8.self)
    }

    /// Writes a line with the object of a row. The names of the columns need no escapes.
    private static func write(_ row: Zip2Sequence<[String], [ExportValue]>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        var separator = "\""
        for (column, value) in row {
            guard let text = plainText(value) else { continue }
            bytes += (separator + column + "\":").utf8
            switch value {
            case .integer, .bool, .amount: bytes += text.utf8
            case .text, .date: JSONValue.write(string: text, to: &bytes)
            }
            separator = ",\""
        }
        bytes += "}\n".utf8
    }

    /// - Returns: Nil for an empty cell.
    private static func plainText(_ value: ExportValue) -> String? {
        switch value {
        case .text(let text): text
        case .integer(let number): number.map { String($0) }
        case .bool(let bool): bool ? "true" : "false"
        case .date(let date): date?.rfc3339
        case .amount(let milliunits): milliunits.map(decimal)
        }
    }

    /// The amount in units of the currency, with as many decimals as needed.
    private static func decimal(_ milliunits: Int64) -> String {
        let (whole, fraction) = (milliunits.magnitude / 1000, milliunits.magnitude % 1000)
        let text = (milliunits < 0 ? "-" : "") + String(whole)
        guard fraction > 0 else { return text }
        if fraction % 100 == 0 { return text + "." + String(fraction / 100) }
        if fraction % 10 == 0 { return text + (fraction < 100 ? ".0" : ".") + String(fraction / 10) }
        return text + (fraction < 10 ? ".00" : fraction < 100 ? ".0" : ".") + String(fraction)
    }
}

/// The use cases of exports for analysis: a whole export as one snapshot, or in parts.
extension Export {
    /// The allowed numbers of users in a part.
    package static let partSizes = 1...1000
    package static let standardPartSize = 200

    package struct Part: Sendable {
        package let text: String
        /// The position of the next part; nil after the last.
        package let next: ExportPosition?
    }

    /// Reads the part after a position. All parts leave out records, and events that took effect, after the first part was
    /// read.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app whose transactions are exported; nil for all apps.
    ///   - position: Nil for the first part, which has the header.
    ///   - product: Returns a product of the catalog; nil if the catalog has none of the identifier.
    package func part(
        of ledger: Ledger,
        in app: String? = nil,
        as format: ExportFormat,
        after position: ExportPosition?,
        users limit: Int,
        at moment: Timestamp,
        product: @escaping @Sendable (String) -> Product?
    ) async throws -> Part {
        let text = ExportText(export: self, format: format)
        let start = position ?? ExportPosition(until: moment, user: .min)
        let page = try await ledger.read(.longSnapshot) {
            try ExportRecords(database: $0.database, app: app, product: product)
                .page(of: self, after: start.user, until: start.until, limit: limit)
        }
        return Part(
            text: (position == nil ? text.header : "") + text.text(of: page.rows),
            next: page.last.map { ExportPosition(until: start.until, user: $0) })
    }

    /// Writes all of a ledger as one snapshot, while other writes continue. It needs memory for one page.
    ///
    /// - Parameters:
    ///   - product: Returns a product of the catalog; nil if the catalog has none of the identifier.
    ///   - output: Receives whole lines.
    /// - Returns: The number of rows.
    /// - Throws: `StorageFault`, and the errors of `output`.
    package func write(
        _ ledger: Ledger,
        as format: ExportFormat,
        product: @escaping (String) -> Product?,
        to output: (Data) throws(BackupError) -> Void
    ) throws -> Int {
        let text = ExportText(export: self, format: format)
        let end = Timestamp(millisecondsSince1970: .max)
        var isBegun = false
        return try ledger.storage.read { database in
            // The written part of the file cannot be undone.
            guard !isBegun else { throw BackupError.interrupted }
            isBegun = true
            try output(Data(text.header.utf8))
            var (rows, last) = (0, Int64.min)
            while let next = try {
                let page = try ExportRecords(database: database, app: nil, product: product)
                    .page(of: self, after: last, until: end, limit: Self.standardPartSize)
                try output(Data(text.text(of: page.rows).utf8))
                rows += page.rows.count
                return page.last
            }() {
                last = next
            }
            return rows
        }
    }
}

/// The position from which an export continues: the last user, and the moment after which records are left out.
package struct ExportPosition: Hashable, Sendable, CustomStringConvertible {
    let until: Timestamp
    let user: Int64

    package var description: String { "\(until.millisecondsSince1970) \(user)" }
}

extension ExportPosition {
    /// - Returns: Nil for a malformed text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let until = Int64(parts[0]), let user = Int64(parts[1]) else { return nil }
        self.init(until: Timestamp(millisecondsSince1970: until), user: user)
    }
}
