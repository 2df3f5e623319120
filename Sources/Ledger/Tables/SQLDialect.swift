/// The dialects of SQL in which the ledger describes its tables.
package enum SQLDialect: Sendable {
    case sqlite
    case postgreSQL

    func definition(of column: Table.Column) -> String {
        var words = [column.name, type(of: column.kind)]
        if !column.isOptional { words.append("NOT NULL") }
        if let check = column.check { words.append("CHECK (\(check))") }
        return words.joined(separator: " ")
    }

    func type(of kind: Table.Column.Kind) -> String {
        switch (self, kind) {
        case (.sqlite, .integer): "INTEGER"
        case (.sqlite, .text): "TEXT"
        case (.sqlite, .blob): "BLOB"
        case (.postgreSQL, .integer): "BIGINT"
        case (.postgreSQL, .text): "TEXT"
        case (.postgreSQL, .blob): "BYTEA"
        }
    }

    func options(of table: Table) -> String {
        guard self == .sqlite else { return "" }
        let hasNumberAsKey = table.columns.contains { table.key == [$0.name] && $0.kind == .integer }
        return table.hasLargeRows || hasNumberAsKey ? " STRICT" : " STRICT, WITHOUT ROWID"
    }
}
