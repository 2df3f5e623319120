import Proofs

/// The check of the rules that the constraints of the tables do not enforce.
struct LedgerRules {
    /// The largest number of reported violations of one rule.
    static let maximumReported = 10

    let database: any LedgerDatabase

    /// - Returns: A sentence for each violation.
    func problems() throws -> [String] {
        let present = try database.presentTables()
        let features = database.tables.schema.features.filter { feature in
            feature.tables.allSatisfy { present.contains($0.name) }
        }
        var problems: [String] = []
        for rule in features.flatMap({ $0.tables.compactMap(\.ownerRule) + $0.rules }) {
            problems += try database.rows("\(rule.violations) LIMIT \(Self.maximumReported)").map { row in
                "\(rule.sentence): \(row.values.first.flatMap(String.init) ?? "")."
            }
        }
        for feature in features {
            problems += try feature.check?(database, Self.maximumReported) ?? []
        }
        problems += try AuditRecords(database: database, randomness: .system).breaks(limit: Self.maximumReported).map {
            "The audit log of user \($0.user) was changed at record \($0.number) or before."
        }
        return problems
    }
}

extension Table {
    /// The rule that each row of a global key has an owner row of the same user, and vice versa.
    fileprivate var ownerRule: LedgerRule? {
        guard let owner else { return nil }
        let columns = key.joined(separator: ", ")
        let isKey = owner.alias.map { "AND one.\($0) IS NULL" } ?? ""
        let violations = [(name, owner.table, isKey), (owner.table, name, "")].map { left, right, condition in
            """
            SELECT \(columns) FROM "\(left)" AS one LEFT JOIN "\(right)" AS other USING (\(columns))
            WHERE (other.user_id IS NULL OR one.user_id <> other.user_id) \(condition)
            """
        }
        return LedgerRule(
            "\(owner.keyName) leads to another \(owner.table)", violations.joined(separator: " UNION ALL "))
    }
}
