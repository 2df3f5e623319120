import Proofs
import Vocabulary

/// The place of a table's rows in a PostgreSQL that Citus distributes over several nodes.
package struct TablePlacement: Hashable, Sendable {
    package let table: String
    /// The column whose value determines the node of a row; nil if every node has all rows.
    package let column: String?
    /// The table whose rows with the same value are on the same node, or "none"; nil for any table with such a column.
    private var group: String?
}

extension TablePlacement {
    /// The place that follows from the family of the table.
    init(of table: Table) {
        let column = table.key.first
        switch table.family {
        case .everywhere: self.init(table: table.name, column: nil)
        case .globalKey: self.init(table: table.name, column: column)
        case .userData: self.init(table: table.name, column: column, group: table.name == "user" ? "none" : "user")
        }
    }

    /// The statement that distributes the table with the rows that it has.
    package var statement: String {
        guard let column else { return "SELECT create_reference_table('\"\(table)\"')" }
        let place = group.map { ", colocate_with => '\($0)'" } ?? ""
        return "SELECT create_distributed_table('\"\(table)\"', '\(column)'\(place))"
    }

    /// The places of the tables that only a ledger in PostgreSQL has.
    static let own = [
        TablePlacement(table: "ledger_schema", column: nil), TablePlacement(table: "ledger_commit", column: "token"),
    ]

    /// The places of all tables of a ledger, in the order in which Citus accepts them: each table after those that its foreign
    /// keys refer to, and after the table whose group it joins.
    package static func all(of tables: [Table]) -> [TablePlacement] {
        let families: [Table.Family] = [.everywhere, .globalKey, .userData]
        return own + families.flatMap { family in tables.filter { $0.family == family } }.map(TablePlacement.init(of:))
    }
}

/// The result of a distribution of the tables.
package struct DistributionReport: Sendable {
    package let distributed: [TablePlacement]
    /// The number of the tables that were distributed before.
    package let earlier: Int
    /// The number of the nodes that keep rows.
    package let nodes: Int
}

/// The reason why the tables were not distributed. The ledger is unchanged.
package enum DistributionError: StatedError, Equatable {
    case inFile
    case extensionMissing
    case onWorker
    /// The column by which a table is distributed; nil if every node has all of its rows.
    case placedOtherwise(table: String, column: String?)
    /// The statement that failed, and its SQLSTATE.
    case refused(String, state: String)

    package var statement: CommandError {
        switch self {
        case .inFile:
            CommandError(
                "distributionNotPossible",
                "A ledger in a file is on one machine. Move it to PostgreSQL first: till ledger export, then till ledger import "
                    + "with --ledger.")
        case .extensionMissing:
            CommandError(
                "citusMissing",
                "The database has no extension \"citus\". Install Citus on each node, set shared_preload_libraries = 'citus', "
                    + "and run CREATE EXTENSION citus in the database of each node. Then add the workers on the "
                    + "coordinator: SELECT citus_add_node('HOST', PORT).")
        case .onWorker:
            CommandError(
                "citusNodeOther", "The database is on a worker of Citus. Name the coordinator with --ledger.")
        case .placedOtherwise(let table, let column):
            CommandError(
                "tablePlacedOtherwise",
                "The table \"\(table)\" is distributed \(column.map { "by \($0)" } ?? "to every node"), which is not its place. "
                    + "Nothing was changed. Run SELECT undistribute_table('\"\(table)\"'), then this command again.")
        case .refused(let statement, let state):
            CommandError(
                "distributionRefused",
                "The database refused \"\(statement)\" (SQLSTATE \(state)). Nothing was distributed. Stop all services, check "
                    + "the nodes with SELECT * FROM citus_check_cluster_node_health(), and try again; the log of the "
                    + "coordinator has the reason.")
        }
    }
}

extension Ledger {
    /// Distributes the tables that are not distributed yet over the nodes of Citus, all or none.
    ///
    /// - Throws: `DistributionError`; `StorageFault`.
    package func distribute() throws -> DistributionReport {
        guard let storage = storage as? PostgreSQLStorage else { throw DistributionError.inFile }
        return try storage.distribute()
    }
}

extension PostgreSQLStorage {
    private static let nodes = SQLQuery(
        "SELECT count(*) FROM pg_dist_node WHERE shouldhaveshards AND isactive AND noderole = 'primary'")

    fileprivate func distribute() throws -> DistributionReport {
        do {
            return try pool.withConnection { connection in
                try PostgreSQLSchema.begin(connection)
                guard let earlier = try connection.placements() else { throw DistributionError.extensionMissing }
                guard try connection.isTrue("citus_is_coordinator()") else { throw DistributionError.onWorker }
                let present = try connection.presentTables()
                let placements = TablePlacement.all(of: tables.schema.tables).filter { present.contains($0.table) }
                var distributed: [TablePlacement] = []
                for placement in placements {
                    guard let found = earlier[placement.table] else {
                        try connection.distribute(placement)
                        distributed.append(placement)
                        continue
                    }
                    guard found == placement.column else {
                        throw DistributionError.placedOtherwise(table: placement.table, column: found)
                    }
                }
                let nodes = try connection.query(Self.nodes).firstValue() ?? 0
                try connection.commit()
                try connection.truncateLocalRows(of: placements)
                return DistributionReport(
                    distributed: distributed, earlier: placements.count - distributed.count, nodes: nodes)
            }
        } catch {
            throw StorageFault.translated(error, path: address.description)
        }
    }
}

extension PostgreSQLConnection {
    /// The distributed tables of the ledger, each with its column; nil without Citus. The column is nil if every node has all
    /// rows.
    fileprivate func placements() throws -> [String: String?]? {
        guard try isTrue("to_regclass('pg_dist_partition') IS NOT NULL") else { return nil }
        var placements: [String: String?] = [:]
        // A local table that Citus only knows has neither a column nor copies on the nodes.
        try query(
            SQLQuery(
                """
                SELECT relname::text, column_to_column_name(logicalrelid, partkey)
                FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
                WHERE pg_table_is_visible(logicalrelid) AND (partkey IS NOT NULL OR repmodel = 't')
                """)
        ).forEachRow { row in
            let table: String = try row.next()
            placements.updateValue(try row.next(), forKey: table)
        }
        return placements
    }

    /// Returns true if Citus has distributed the ledger.
    func isDistributed() throws -> Bool { try placements()?["user"] != nil }

    fileprivate func isTrue(_ condition: String) throws -> Bool {
        try query(SQLQuery("SELECT \(condition)")).firstValue() ?? false
    }

    fileprivate func distribute(_ placement: TablePlacement) throws {
        do throws(PostgreSQLFailure) {
            _ = try query(SQLQuery(placement.statement))
        } catch {
            guard let state = error.state, !error.isOfConnection else { throw error }
            throw DistributionError.refused(placement.statement, state: state)
        }
    }

    /// Frees the room of distributed rows. Citus keeps their former copies on the coordinator, where no statement reads them.
    fileprivate func truncateLocalRows(of placements: [TablePlacement]) throws {
        for table in placements.map({ "'\"\($0.table)\"'" }) where try isTrue("pg_relation_size(\(table)) > 0") {
            _ = try query(SQLQuery("SELECT truncate_local_data_after_distributing_table(\(table))"))
        }
    }
}
