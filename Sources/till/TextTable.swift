/// Rows of text in columns, for a terminal.
struct TextTable {
    private var rows: [[String]]

    init(header: [String]) {
        rows = [header]
    }

    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The lines. Each column is as wide as its widest cell, with two spaces between columns.
    var lines: [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { Self.width($0[column]) }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (cell, width) in zip(row.dropLast(), widths) {
                line += cell + String(repeating: " ", count: width - Self.width(cell) + 2)
            }
            return line + (row.last ?? "")
        }
    }

    /// The text in at most 32 characters; a longer one ends with an ellipsis.
    static func shortened(_ text: String) -> String {
        text.count > 32 ? text.prefix(31) + "…" : text
    }

    /// The width of a text in terminal cells. Wide characters such as Hangul take two (Unicode Standard Annex 11).
    private static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { width, scalar in
            switch scalar.value {
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60,
                0xFFE0...0xFFE6, 0x1F300...0x1FAFF:
                width + 2
            default: width + 1
            }
        }
    }
}
