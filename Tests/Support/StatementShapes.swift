import Foundation
import Ledger
import Testing

/// A statement that a connection to PostgreSQL has prepared.
package struct PreparedStatement: Sendable {
    let name: String
    package let text: String
    let parameterCount: Int
}

/// The shapes of the statements that a ledger has sent, as the parser and the planner of PostgreSQL understand them. A distributed
/// database sends a statement to one node only if it has such a shape.
extension Ledger {
    /// Parts of statements of another shape, and the reasons.
    private static let statementsOfOtherShapes = [
        // The story of a user in the console, which is rarely read. Citus reads the purchases of the user first.
        "AS bought JOIN notification",
        // The items of a name that the service has not read before. With Citus, two statements read them.
        "(SELECT user_id FROM user_name WHERE name = $1 AND issuer = $2) AND is_revoked",
    ]

    /// The prepared statements of the ledger's only connection.
    package func preparedStatements() async throws -> [PreparedStatement] {
        try await read(.statement) {
            try $0.database.rows(
                """
                SELECT name, statement, coalesce(array_length(parameter_types, 1), 0) FROM pg_prepared_statements
                ORDER BY statement
                """
            ) { PreparedStatement(name: try $0.next(), text: try $0.next(), parameterCount: try $0.next()) }
        }.filter { statement in
            ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { statement.text.hasPrefix($0) }
        }
    }

    private func plan(of statement: PreparedStatement) async throws -> StatementPlan {
        let nulls = Array(repeating: "NULL", count: statement.parameterCount).joined(separator: ", ")
        let json = try await read(.statement) { transaction -> String? in
            try transaction.database.row(
                """
                EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE \(statement.name)\(nulls.isEmpty ? "" : "(\(nulls))")
                """
            ) { try $0.next() }
        }
        struct Explanation: Decodable {
            let plan: StatementPlan

            enum CodingKeys: String, CodingKey {
                case plan = "Plan"
            }
        }
        let explained = try JSONDecoder().decode([Explanation].self, from: Data(try #require(json).utf8))
        return try #require(explained.first).plan
    }

    /// The prepared statements that join tables of two families, or find a user's number in a sub-select, with the reasons.
    package func misshapenStatements() async throws -> [String] {
        let families = Dictionary(uniqueKeysWithValues: [LedgerFeature].all.tables.map { ($0.name, $0.family) })
        var found: [String] = []
        for statement in try await preparedStatements()
        where !Self.statementsOfOtherShapes.contains(where: { statement.text.contains($0) }) {
            let problems = try await plan(of: statement).problems(families)
            if !problems.isEmpty { found.append("\(problems.joined(separator: "; ")): \(statement.text)") }
        }
        return found
    }
}

/// The plan of a statement, as PostgreSQL states it.
private struct StatementPlan: Decodable {
    let nodeType: String
    let table: String?
    /// The place among the parts of another plan.
    let relationship: String?
    let output: [String]?
    let parts: [StatementPlan]?

    enum CodingKeys: String, CodingKey {
        case nodeType = "Node Type"
        case table = "Relation Name"
        case relationship = "Parent Relationship"
        case output = "Output"
        case parts = "Plans"
    }

    /// True for the plan of a sub-select in an expression.
    private var isSubselect: Bool { relationship == "InitPlan" || relationship == "SubPlan" }

    private var tables: Set<String> { Set([table].compactMap(\.self)).union((parts ?? []).flatMap(\.tables)) }

    /// The reasons why a distributed database may send the statement to several nodes.
    func problems(_ families: [String: Table.Family]) -> [String] {
        var problems = (parts ?? []).flatMap { $0.problems(families) }
        let isJoin = nodeType == "Nested Loop" || nodeType.hasSuffix(" Join")
        if isJoin || (parts ?? []).contains(where: \.isSubselect) {
            // Each node has the small tables.
            let spread = tables.filter { (families[$0] ?? .everywhere) != .everywhere }.sorted()
            let isOneUser = spread.allSatisfy { families[$0] == .userData }
            if spread.count > 1, !isOneUser { problems.append("joins \(spread.joined(separator: ", "))") }
        }
        if isSubselect, (output ?? []).contains(where: { $0.hasSuffix("user_id") }) {
            problems.append("selects \(output ?? []) from \(tables.sorted())")
        }
        return problems
    }
}
