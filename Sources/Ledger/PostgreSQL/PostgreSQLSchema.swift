import Proofs
import Vocabulary

/// The version of a ledger in a PostgreSQL database.
enum PostgreSQLSchema {
    /// The advisory lock of the processes that prepare a ledger.
    private static let lock: Int64 = 0x7469_6c6c

    /// Creates the missing tables of the features in use, and adds the columns that a ledger of an earlier version lacks.
    ///
    /// - Returns: The reason why the ledger cannot be used; nil if it can.
    static func prepare(
        _ connection: PostgreSQLConnection, _ schema: LedgerSchema, migrates: Bool
    ) throws -> StorageFault.Cause? {
        try begin(connection)
        let present = try connection.presentTables()
        var version = 0
        if present.contains("ledger_schema") {
            version = try connection.query(SQLQuery("SELECT max(version) FROM ledger_schema")).firstValue() ?? 0
        }
        let isComplete = version == schema.version && schema.missing(from: present).isEmpty
        let mayComplete = migrates && !isComplete && version <= schema.version
        if mayComplete {
            let isDistributed = try connection.isDistributed()
            let statements =
                (version == 0 ? [additionalTables] : [])
                + schema.completion(of: version, with: present, in: .postgreSQL, isDistributed: isDistributed)
            // Citus sends each whole text to the workers, which run one statement of it.
            for script in isDistributed ? statements : [statements.joined(separator: "\n")] {
                try connection.script(script)
            }
            try connection.enqueue(
                SQLQuery("INSERT INTO ledger_schema (version) VALUES ($1) ON CONFLICT DO NOTHING", [schema.version]))
        }
        try connection.commit()
        if version > schema.version { return .otherVersion }
        return isComplete || mayComplete ? nil : .missing
    }

    /// Begins the transaction of a process that prepares a ledger. No other process prepares it before the transaction ends.
    static func begin(_ connection: PostgreSQLConnection) throws {
        connection.begin("READ COMMITTED")
        _ = try connection.query(SQLQuery("SELECT pg_advisory_xact_lock($1) IS NULL", [lock]))
    }

    /// The tables that only a ledger in PostgreSQL has: its version, and the tokens of its commits.
    private static let additionalTables = """
        CREATE TABLE ledger_schema (version BIGINT PRIMARY KEY);

        CREATE TABLE ledger_commit (
            token BYTEA PRIMARY KEY,
            is_committed SMALLINT NOT NULL,
            committed_at TIMESTAMPTZ NOT NULL DEFAULT now()
        );

        """
}

extension PostgreSQLConnection {
    /// The query of `presentTables`.
    static let presentTables = SQLQuery(
        """
        SELECT relname::text AS name FROM pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)
            AND relnamespace = coalesce(
                (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('ledger_schema')),
                to_regnamespace(quote_ident(current_schema()::text)))
        """)

    /// The names of the tables in the ledger's schema. Other applications may use other schemas of the database.
    func presentTables() throws -> Set<String> {
        var names: Set<String> = []
        try query(Self.presentTables).forEachRow { names.insert(try $0.next()) }
        return names
    }
}

/// The tables of a ledger in PostgreSQL, with their columns, keys, indexes and code, and the views beside them.
///
/// Objects of extensions are the server's. The text of a condition is not compared: PostgreSQL rewrites it.
struct PostgreSQLDefinitions {
    let database: any LedgerDatabase

    private static let schema = "(SELECT relnamespace FROM pg_class WHERE oid = to_regclass('ledger_schema'))"

    /// - Returns: A sentence for each difference from the ledger's own definitions.
    func problems() throws -> [String] {
        let objects = try objects()
        let present = Set(objects.filter { $0.kind == "table" }.map(\.name))
        let tables = database.tables.schema.expected(beside: present)
        let names = tables.map(\.name) + TablePlacement.own.map(\.table)
        var found: [String: String] = [:]
        var defined: [String: String] = [:]
        for object in objects { found["\(object.kind) \(DefinitionDifferences.quoted(object.name))"] = "" }
        for name in names { defined["table \"\(name)\""] = "" }
        for table in tables where present.contains(table.name) { defined.merge(Self.parts(of: table)) { $1 } }
        let described = Set(tables.map(\.name))
        for part in try columns() + indexes() + constraints() where described.contains(part.table) {
            found["\(part.kind) \(part.name) of \(DefinitionDifferences.quoted(part.table))"] = part.definition
        }
        for part in try code() where names.contains(part.table) {
            found["\(part.kind) \(part.name) of \(DefinitionDifferences.quoted(part.table))"] = part.definition
        }
        return DefinitionDifferences.sentences(found: found, defined: defined)
    }

    /// The number of written rows after which PostgreSQL takes statistics by itself (`autovacuum_analyze_threshold`).
    private static let automaticRows = 50

    /// The tables without statistics that have more rows than PostgreSQL leaves without. The nodes of Citus take their own.
    ///
    /// `pg_class.reltuples` does not tell: the indexes that `pg_restore` makes set it.
    ///
    /// - Parameter rows: The number of rows of each table.
    func tablesWithoutStatistics(_ rows: [String: Int]) throws -> [String] {
        try database.rows(
            """
            SELECT relname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE relnamespace = \(Self.schema) AND relkind = 'r'
                AND NOT EXISTS (SELECT FROM pg_stats WHERE schemaname = nspname AND tablename = relname)
                AND NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
            ORDER BY relname
            """
        ) { try $0.next() as String }
        .filter { rows[$0, default: 0] > Self.automaticRows }
    }

    private struct Part {
        let kind: String
        let name: String
        let table: String
        let definition: String
    }

    private static func parts(of table: Table) -> [String: String] {
        var parts: [String: String] = [:]
        func add(_ kind: String, _ name: String, _ definition: String) {
            parts["\(kind) \(name) of \"\(table.name)\""] = definition
        }
        for column in table.columns {
            let isRequired = !column.isOptional || table.key.contains(column.name)
            add("column", "\"\(column.name)\"", definition(of: SQLDialect.postgreSQL.type(of: column.kind), isRequired))
        }
        for index in table.indexes(in: .postgreSQL) {
            let definition = definition(of: index.columns, index.isUnique, isPartial: index.condition != nil)
            add("index", "\"\(index.name)\"", definition)
        }
        if !table.key.isEmpty { add("primary key", "(\(table.key.joined(separator: ", ")))", "") }
        for columns in table.unique { add("unique key", "(\(columns.joined(separator: ", ")))", "") }
        for reference in table.references where reference.isEnforced(in: .postgreSQL) {
            add("foreign key", "(\(reference.columns.joined(separator: ", "))) to \(reference.table)", "")
        }
        let checks = table.columns.count { $0.check != nil } + table.checks.count
        if checks > 0 { add("conditions", "(CHECK)", "\(checks)") }
        return parts
    }

    private static func definition(of type: String, _ isRequired: Bool) -> String {
        type.lowercased() + (isRequired ? " not null" : "")
    }

    private static func definition(of columns: [String], _ isUnique: Bool, isPartial: Bool) -> String {
        "\(isUnique) \(isPartial) \(columns.joined(separator: ", "))"
    }

    // MARK: The catalog of PostgreSQL

    private func objects() throws -> [(kind: String, name: String)] {
        try database.rows(
            """
            SELECT CASE WHEN relkind IN ('v', 'm') THEN 'view' ELSE 'table' END, relname::text FROM pg_class
            WHERE relnamespace = \(Self.schema) AND relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT EXISTS (
                SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
            """
        ) { (try $0.next(), try $0.next()) }
    }

    private func columns() throws -> [Part] {
        try database.rows(
            """
            SELECT attname::text, relname::text, format_type(atttypid, atttypmod)::text, attnotnull,
                atthasdef OR attidentity <> ''
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = \(Self.schema) AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
            """
        ) { row in
            Part(
                kind: "column", name: DefinitionDifferences.quoted(try row.next()), table: try row.next(),
                definition: Self.definition(of: try row.next(), try row.next()) + (try row.next() ? " default" : ""))
        }
    }

    private func indexes() throws -> [Part] {
        try database.rows(
            """
            SELECT named.relname::text, owner.relname::text,
                array_to_string(ARRAY(
                    SELECT pg_get_indexdef(indexrelid, place, true) FROM generate_series(1, indnkeyatts) AS place
                    ORDER BY place), ', '),
                indisunique, indpred IS NOT NULL, indisvalid
            FROM pg_index JOIN pg_class AS owner ON owner.oid = indrelid JOIN pg_class AS named ON named.oid = indexrelid
            WHERE owner.relnamespace = \(Self.schema) AND NOT EXISTS (
                SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
            """
        ) { row in
            Part(
                kind: "index", name: DefinitionDifferences.quoted(try row.next()), table: try row.next(),
                definition: Self.definition(
                    of: [(try row.next() as String).replacing("\"", with: "")], try row.next(),
                    isPartial: try row.next()) + (try row.next() ? "" : " invalid"))
        }
    }

    private func constraints() throws -> [Part] {
        var parts: [Part] = []
        var conditions: [String: Int] = [:]
        try database.forEachRow(
            """
            SELECT owner.relname::text, contype::text, coalesce(referenced.relname::text, ''),
                array_to_string(ARRAY(
                    SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS key (number, place)
                    JOIN pg_attribute ON attrelid = conrelid AND attnum = number ORDER BY place), ', ')
            FROM pg_constraint JOIN pg_class AS owner ON owner.oid = conrelid
                LEFT JOIN pg_class AS referenced ON referenced.oid = confrelid
            WHERE owner.relnamespace = \(Self.schema) AND contype IN ('p', 'u', 'f', 'x', 'c')
            """,
            []
        ) { row in
            let (table, type, referenced): (String, String, String) = (try row.next(), try row.next(), try row.next())
            let kind: String? =
                switch type {
                case "p": "primary key"
                case "u": "unique key"
                case "f": "foreign key"
                case "x": "exclusion"
                default: nil
                }
            guard let kind else {
                conditions[table, default: 0] += 1
                return
            }
            let name = "(\(try row.next() as String))" + (referenced.isEmpty ? "" : " to \(referenced)")
            parts.append(Part(kind: kind, name: name, table: table, definition: ""))
        }
        return parts
            + conditions.map { Part(kind: "conditions", name: "(CHECK)", table: $0, definition: "\($1)") }
    }

    /// The triggers, rules and policies of tables. The ledger has none.
    private func code() throws -> [Part] {
        try database.rows(
            """
            SELECT code.kind, code.name, relname::text FROM (
                SELECT 'trigger' AS kind, tgname::text AS name, tgrelid AS owner FROM pg_trigger WHERE NOT tgisinternal
                UNION ALL SELECT 'rule', rulename::text, ev_class FROM pg_rewrite
                UNION ALL SELECT 'policy', polname::text, polrelid FROM pg_policy
            ) AS code JOIN pg_class ON pg_class.oid = owner
            WHERE relnamespace = \(Self.schema) AND relkind IN ('r', 'p')
            """
        ) { row in
            Part(
                kind: try row.next(), name: DefinitionDifferences.quoted(try row.next()), table: try row.next(),
                definition: "")
        }
    }
}

extension Ledger {
    /// Connects to a PostgreSQL database, and creates the tables if they do not exist. Several services may share the database.
    ///
    /// - Parameters:
    ///   - features: All features. The ledger creates the tables of the features in use.
    ///   - migrates: True if the ledger may create tables and add columns.
    package init(
        _ address: PostgreSQLAddress,
        features: [LedgerFeature],
        randomness: Randomness = .system,
        migrates: Bool = true
    ) throws(StorageFault) {
        self.init(
            storage: try PostgreSQLStorage(address, features: features, randomness: randomness, migrates: migrates),
            randomness: randomness)
    }

    /// Checks every rule of the ledger on a snapshot. Other processes may write meanwhile. `pg_amcheck` checks PostgreSQL's own
    /// files.
    package func check() throws -> LedgerReport {
        try storage.read { database in
            var rows: [String: Int] = [:]
            for table in try database.describedTables() {
                rows[table.name] = try database.single("SELECT count(*) FROM \(table.quotedName)")
            }
            guard storage.dialect == .postgreSQL else {
                return LedgerReport(rows: rows, problems: try LedgerRules(database: database).problems())
            }
            let definitions = PostgreSQLDefinitions(database: database)
            let differences = try definitions.problems()
            return LedgerReport(
                rows: rows,
                // The rules read tables as the ledger defines them, and a failure would end the transaction.
                problems: differences.isEmpty ? try LedgerRules(database: database).problems() : differences,
                tablesWithoutStatistics: try definitions.tablesWithoutStatistics(rows))
        }
    }
}
