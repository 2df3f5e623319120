import GRDB

/// The tables, indexes, triggers and views of a ledger in a file, as the statements that made them.
enum SQLiteDefinitions {
    /// The tables that SQLite itself makes.
    private static let ownTables = ["sqlite_sequence", "sqlite_stat1", "sqlite_stat3", "sqlite_stat4"]

    /// The differences between a file and the tables of a ledger.
    ///
    /// - Returns: A sentence for each difference.
    static func problems(of database: Database, _ schema: LedgerSchema) throws -> [String] {
        var found: [String: String] = [:]
        var present: Set<String> = []
        for row in try Row.fetchAll(database, sql: "SELECT type, name, sql FROM sqlite_master") {
            guard let type = String.fromDatabaseValue(row["type"]), let name = String.fromDatabaseValue(row["name"])
            else { return ["The list of tables is damaged."] }
            let sql = String.fromDatabaseValue(row["sql"])
            if type == "table" {
                present.insert(name)
                if ownTables.contains(name) { continue }
            }
            // SQLite makes the indexes of constraints.
            if type == "index", sql == nil, name.hasPrefix("sqlite_autoindex_") { continue }
            found["\(type) \(DefinitionDifferences.quoted(name))"] = normalized(sql ?? "")
        }
        return DefinitionDifferences.sentences(found: found, defined: defined(by: schema, present))
    }

    /// The objects of the features of which a ledger has a table.
    private static func defined(by schema: LedgerSchema, _ present: Set<String>) -> [String: String] {
        let tables = schema.features.filter { feature in
            feature.tables.contains { present.contains($0.name) }
        }.flatMap(\.tables)
        var defined: [String: String] = [:]
        for statement in tables.flatMap({ $0.statements(in: .sqlite) }) {
            let words = statement.split(separator: " ", maxSplits: 4).filter { $0 != "UNIQUE" }
            let name = words[2].filter { $0 != "\"" }
            defined["\(words[1].lowercased()) \"\(name)\""] = normalized(statement)
        }
        return defined
    }

    /// A statement without its last semicolon, and outside quotes without the spaces that mean nothing: SQLite adds a column to the
    /// text of a table with others.
    static func normalized(_ statement: String) -> String {
        var bytes: [UInt8] = []
        var quote: UInt8?
        var isAfterSpace = false
        for byte in statement.utf8 {
            if let end = quote {
                bytes.append(byte)
                if byte == end { quote = nil }
                continue
            }
            if [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) {
                isAfterSpace = true
                continue
            }
            if isAfterSpace, let last = bytes.last, !isPunctuation(last), !isPunctuation(byte) { bytes.append(0x20) }
            isAfterSpace = false
            bytes.append(byte)
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): quote = byte
            case UInt8(ascii: "["): quote = UInt8(ascii: "]")
            default: break
            }
        }
        if bytes.last == UInt8(ascii: ";") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        [UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";")].contains(byte)
    }
}
