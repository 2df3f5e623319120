import Proofs
import Vocabulary

/// A reset of the ledger between two tests of a suite: one commit deletes all that customers and stores have brought about, and keeps what
/// configures the service.
///
/// The description of each table says if its rows stay (`Table.staysAtReset`). Numbers of users and of questions to a store go on. So what
/// a process has remembered under the number of a former user leads to nobody, and no earlier answer of a store supersedes a later one.
/// Requests, and answers of a store, that are under way are stored after the reset.
package struct LedgerReset: Hashable, Sendable {
    /// The number of deleted users.
    package let users: Int

    package init(users: Int) {
        self.users = users
    }
}

extension LedgerTransaction {
    /// Deletes the rows that came from customers and stores.
    ///
    /// - Throws: `LedgerResetError.hasCustomers` if a store that has customers has sold anything.
    package func reset(at moment: Timestamp) throws -> LedgerReset {
        let present = try database.presentTables()
        let emptied = database.tables.schema.tables.filter { !$0.staysAtReset && present.contains($0.name) }
        guard try !emptied.contains(where: { try database.hasCustomersOrigin(in: $0) }) else {
            throw LedgerResetError.hasCustomers
        }
        let users: [Int64] = try database.rows(#"SELECT user_id FROM "user" ORDER BY user_id"#) { try $0.next() }
        let last: Int64? = try database.value("SELECT number FROM ledger_reset ORDER BY number DESC LIMIT 1", [])
        // The first reset has the number 1.
        let number = last.map { $0 + 1 } ?? 1
        let lastUser = [users.last, try database.lastUserBeforeReset()].compactMap(\.self).max()
        try database.empty(emptied)
        try database.insert(
            into: "ledger_reset", ["number", "happened_at", "last_user"], [[number, moment, lastUser]])
        for user in users { database.recordChange(of: user) }
        return LedgerReset(users: users.count)
    }
}

extension LedgerDatabase {
    private static var localOrigins: String {
        Origin.allCases.filter(\.isLocal).map { String($0.number) }.joined(separator: ", ")
    }

    /// True if a row has the origin of a store that has customers.
    fileprivate func hasCustomersOrigin(in table: Table) throws -> Bool {
        try table.columns.filter { $0.kind == .origin }.contains { column in
            try hasRow("SELECT 1 FROM \(table.quotedName) WHERE \(column.name) NOT IN (\(Self.localOrigins)) LIMIT 1")
        }
    }

    /// The largest number that a user had before a reset; nil without a reset, and if no ledger before one had a user.
    func lastUserBeforeReset() throws -> Int64? {
        guard try has("ledger_reset") else { return nil }
        return try row("SELECT max(last_user) FROM ledger_reset") { try $0.next() as Int64? } ?? nil
    }
}

/// The reason why a ledger is not reset. Nothing was deleted.
package enum LedgerResetError: RuledError {
    /// The service was not started for it.
    case notAllowed
    /// The ledger has purchases of real customers, or a service has accepted them.
    case hasCustomers

    package var rule: ErrorRule {
        switch self {
        case .notAllowed:
            ErrorRule(
                "resetNotAllowed", .conflict, isOfOperator: true,
                "No service of this ledger allows a reset. Start it with --allow-reset, for a suite alone.",
                korean: "이 원장의 서비스는 초기화를 허용하지 않습니다. 테스트용으로만 --allow-reset을 붙여 시작하세요.")
        case .hasCustomers:
            ErrorRule(
                "ledgerHasCustomers", .conflict, isOfOperator: true,
                "The ledger has purchases of a store with customers, or a service has accepted them. Give the suite a ledger of "
                    + "its own.",
                korean: "원장에 실제 고객이 있는 스토어의 구매가 있거나, 서비스가 그런 구매를 받아들인 적이 있습니다. 테스트에는 별도의 원장을 쓰세요.")
        }
    }
}

extension LedgerFeature {
    /// The resets for suites. Only a service that allows them has the table.
    package static let resets = LedgerFeature(tables: [.ledgerReset])
}

extension Table {
    /// The resets. `last_user`: the largest number that a user had until then; null if there was none.
    fileprivate static let ledgerReset = Table(
        name: "ledger_reset", family: .everywhere,
        columns: [.integer("number", check: "number > 0"), .integer("happened_at"), .integer("last_user").optional],
        key: ["number"])
}
