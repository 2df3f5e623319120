import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The use cases of the figures: update the sums, and answer queries.
package struct FigureService: Sendable {
    /// The number of users in one commit. It takes some milliseconds, during which SQLite has no other commit.
    private static let usersOfBatch = 32
    private static let usersOfPage = 1000

    package let ledger: Ledger
    let clock: any WallClock

    package var today: CalendarDay { CalendarDay(clock.now()) }

    /// - Throws: `FigureError`, `StorageFault`.
    package func answer(_ query: FigureQuery) async throws -> FigureAnswer {
        let today = today
        return try await ledger.read(.longSnapshot) {
            try FigureCalculation(query, today: today, in: $0.database).answer()
        }
    }

    /// The answer to a query beside that of the time before, both of one moment.
    ///
    /// - Throws: `FigureError`, `StorageFault`.
    package func comparison(_ query: FigureQuery) async throws -> FigureComparison {
        let today = today
        return try await ledger.read(.longSnapshot) { transaction in
            func answer(_ query: FigureQuery) throws -> FigureAnswer {
                try FigureCalculation(query, today: today, in: transaction.database).answer()
            }
            return FigureComparison(
                try answer(query), before: try query.before(today: today).map(answer), today: today)
        }
    }

    /// Updates the sums, in batches of users.
    ///
    /// - Parameter pause: Runs between two batches; returns false to stop.
    /// - Returns: The number of users whose part of the sums was damaged, and was computed anew.
    @discardableResult
    package func rollUp(between pause: @Sendable () async -> Bool = { true }) async throws -> Int {
        var last = Int64.min
        var damaged = 0
        while true {
            let user = last
            let batch = try await ledger.read(.longSnapshot) {
                try $0.pendingFigures(after: user, limit: Self.usersOfBatch)
            }
            guard let batch, let next = batch.users.last else { return damaged }
            // A batch with a user whom another process has updated is read again.
            if try await ledger.writeInBackground({ try $0.updateFigures(batch) }) {
                damaged += batch.damaged
                last = next
            }
            guard await pause() else { return damaged }
        }
    }

    /// Finds users with outdated sums that no mark shows: users from before figures were turned on, users that a process
    /// without figures has written, and all users after a change of the rules.
    package func sweep() async throws {
        var last = Int64.min
        while true {
            let user = last
            let page = try await ledger.read(.longSnapshot) {
                try $0.outdatedFigures(after: user, limit: Self.usersOfPage)
            }
            if !page.marks.isEmpty {
                try await ledger.writeInBackground {
                    try $0.database.insert(
                        into: "figure_pending", ["user_id", "version"], page.marks.map { [$0.user, $0.version] },
                        isNew: false)
                }
            }
            guard let next = page.last else { break }
            last = next
        }
        guard try await !ledger.read(.longSnapshot, { try $0.database.isFigureBackfilled() }) else { return }
        let moment = clock.now()
        try await ledger.writeInBackground {
            try $0.database.insert(
                into: "figure_upkeep", ["subject", "done_at"], [["backfill", moment]], isNew: false)
        }
    }

    /// Computes all sums anew from the transactions.
    package func rebuild() async throws {
        try await ledger.write { transaction in
            for table in LedgerFeature.figures.tables {
                try transaction.database.write("DELETE FROM \(table.name)", [])
            }
        }
        try await sweep()
        try await rollUp()
    }
}

extension Ledger {
    /// The figures of the ledger.
    ///
    /// - Parameter clock: The clock that decides the days.
    package func figures(clock: any WallClock) -> FigureService { FigureService(ledger: self, clock: clock) }
}

extension LedgerDatabase {
    /// True if all users from before figures were turned on were marked.
    func isFigureBackfilled() throws -> Bool {
        try hasRow("SELECT 1 FROM figure_upkeep WHERE subject = $1", ["backfill"])
    }
}

/// The SQL that updates the sums.
extension LedgerTransaction {
    /// Reads the next users whose sums are pending, and computes their sums.
    fileprivate func pendingFigures(after user: Int64, limit: Int) throws -> FigureBatch? {
        let users: [Int64] = try database.rows(
            "SELECT DISTINCT user_id FROM figure_pending WHERE user_id > $1 ORDER BY user_id LIMIT $2", [user, limit]
        ) { try $0.next() }
        guard !users.isEmpty else { return nil }
        var (versions, erased): ([Int64: Int64], Set<Int64>) = ([:], [])
        let marks = try database.rows(
            """
            SELECT pending.user_id, pending.version, "user".version, "user".issuer
            FROM figure_pending AS pending LEFT JOIN "user" ON "user".user_id = pending.user_id
            WHERE pending.user_id \(database.isIn(numbers: "$1"))
            ORDER BY pending.user_id, pending.version
            """,
            [database.list(users)]
        ) { row -> FigureMark in
            let mark: FigureMark = (try row.next(), try row.next())
            versions[mark.user] = try row.next()
            if try row.next() == User.erasedIssuer { erased.insert(mark.user) }
            return mark
        }
        let transactions = try ReadingRecords(database: database).transactions(
            of: Set(users), stating: UserFigures.facts)
        var batch = FigureBatch(users: users, marks: marks, previous: try contributions(of: users))
        var change = FigureSums()
        var cohorts: [FigureCohort: Int64] = [:]
        for user in users {
            let bought = transactions[user] ?? []
            let sums = UserFigures.sums(of: bought)
            batch.customers.append((user, erased.contains(user) ? [] : CustomerSums.all(of: bought)))
            batch.contributions.append((user, FigureContribution(version: versions[user] ?? 0, sums)))
            change.add(sums)
            for cohort in FigureCohort.all(of: sums) { cohorts[cohort, default: 0] += 1 }
            guard let contribution = batch.previous[user] else { continue }
            let included = try? FigureSumsCoding.decode(contribution.sums)
            if included == nil { batch.damaged += 1 }
            change.add(included ?? sums, times: -1)
            for cohort in FigureCohort.all(of: included ?? sums) { cohorts[cohort, default: 0] -= 1 }
        }
        var amounts: [FigureRow: Int64] = [:]
        for (key, amount) in change.amounts {
            for row in FigureRow.all(of: key) { amounts[row, default: 0] &+= amount }
        }
        batch.cohorts = cohorts.filter { $0.value != 0 }.sorted { $0.key < $1.key }
        batch.changes = amounts.filter { $0.value != 0 }.sorted { $0.key < $1.key }
        return batch
    }

    /// Adds a batch to the sums. The number of statements does not depend on the number of users.
    ///
    /// - Returns: False if another process has updated a user since the batch was read. Then nothing is written.
    fileprivate func updateFigures(_ batch: FigureBatch) throws -> Bool {
        guard try contributions(of: batch.users) == batch.previous else { return false }
        try database.add(
            to: "figure", "amount", where: FigureRow.columns, batch.changes.map { $0.values + [$1] })
        try database.add(
            to: "figure_cohort", "users", where: FigureCohort.columns, batch.cohorts.map { $0.values + [$1] })
        try database.delete(from: "figure_contribution", where: ["user_id"], batch.users.map { [$0] })
        try database.insert(
            into: "figure_contribution", ["user_id", "version", "rules", "sums"],
            batch.contributions.map { [$0.user, $0.current.version, $0.current.rules, $0.current.sums] })
        try database.replaceCustomerSums(batch.customers)
        try database.delete(
            from: "figure_pending", where: ["user_id", "version"], batch.marks.map { [$0.user, $0.version] })
        return true
    }

    /// Finds outdated users without marks on a page of all users. Their sums were computed after another write or by other
    /// rules.
    ///
    /// - Returns: The marks to write, and the last user of the page; nil after the last page.
    fileprivate func outdatedFigures(after user: Int64, limit: Int) throws -> (marks: [FigureMark], last: Int64?) {
        var (marks, last): ([FigureMark], Int64?) = ([], nil)
        try database.forEachRow(
            """
            SELECT "user".user_id, "user".version, last_transaction, contribution.version, rules
            FROM "user" LEFT JOIN figure_contribution AS contribution ON contribution.user_id = "user".user_id
            WHERE "user".user_id > $1 ORDER BY "user".user_id LIMIT $2
            """,
            [user, limit]
        ) { row in
            let mark: FigureMark = (try row.next(), try row.next())
            last = mark.user
            let transactions: Int64 = try row.next()
            let (computed, rules): (Int64?, Int?) = (try row.next(), try row.next())
            let isNew = computed == nil && transactions == 0
            if !isNew, computed != mark.version || rules != UserFigures.version { marks.append(mark) }
        }
        return (marks, last)
    }

    private func contributions(of users: [Int64]) throws -> [Int64: FigureContribution] {
        try database.dictionary(
            """
            SELECT user_id, \(FigureContribution.columns) FROM figure_contribution AS contribution
            WHERE user_id \(database.isIn(numbers: "$1"))
            """,
            [database.list(users)]
        ) { row in (try row.next(), try FigureContribution(&row)) }
    }
}

/// Users whose contributions are recomputed, in order, and the change of the sums. All of it is known before the commit.
struct FigureBatch: Sendable {
    let users: [Int64]
    /// The writes that the sums did not include, in order.
    let marks: [FigureMark]
    /// The contributions that the sums include.
    let previous: [Int64: FigureContribution]
    var contributions: [(user: Int64, current: FigureContribution)] = []
    /// The sums of the users as customers. An erased user has none.
    var customers: [(user: Int64, sums: [CustomerSums])] = []
    /// In the order of the keys, which prevents deadlocks between two processes.
    var changes: [(key: FigureRow, value: Int64)] = []
    /// The change of the cohorts, in the same order.
    var cohorts: [(key: FigureCohort, value: Int64)] = []
    /// The number of users whose contributions were damaged. The sums have what the damaged ones said, which is taken for what
    /// the transactions say: what was written since is lacking until the sums are computed anew.
    var damaged = 0
}

/// The contribution of a user to the sums.
struct FigureContribution: Hashable, Sendable {
    /// The columns of `figure_contribution AS contribution`.
    static let columns = "contribution.version, rules, sums"

    /// The number of the write after which it was computed.
    let version: Int64
    /// The version of the rules by which it was computed.
    let rules: Int
    let sums: [UInt8]

    init(version: Int64, _ sums: FigureSums) {
        (self.version, rules, self.sums) = (version, UserFigures.version, FigureSumsCoding.encode(sums))
    }

    /// The contribution in the next columns, which are `columns`.
    init(_ row: inout ResultRow) throws {
        (version, rules, sums) = (try row.next(), try row.next(), try row.next())
    }
}

/// A write for a user that the sums do not include yet.
typealias FigureMark = (user: Int64, version: Int64)

extension LedgerFeature {
    /// The sums of the sales, by day and month, and of each customer's purchases.
    package static let figures = LedgerFeature(
        tables: [.figure, .figureCohort, .figureContribution, .figurePending, .figureUpkeep] + Table.customerSums,
        check: { database, limit in try FigureCheck(database: database).problems(limit: limit) },
        writeHook: { heads, database in
            // Each write has its own row, so that no writer waits for the job that removes the marks.
            try database.insert(
                into: "figure_pending", ["user_id", "version"],
                heads.sorted { $0.key < $1.key }.compactMap { user, head in
                    head.lastTransaction > 0 ? [user, head.nextVersion] : nil
                }, isNew: false)
        },
        // The writes of the merge mark the other user, whose sums then include the moved purchases.
        mergeHook: { former, _, database in try database.deleteCustomerSums(of: [former]) })
}

extension Table {
    /// The contribution of each user to the sums. `version`: the number of the write after which it was computed; `rules`: the
    /// version of the rules. The rows have no personal data, so they stay after an erasure, like the transactions.
    fileprivate static let figureContribution = Table(
        name: "figure_contribution", family: .userData,
        columns: [.integer("user_id"), .integer("version"), .integer("rules"), .blob("sums")],
        key: ["user_id"], hasLargeRows: true)

    /// The writes for users that the sums do not include yet.
    fileprivate static let figurePending = Table(
        name: "figure_pending", family: .userData, columns: [.integer("user_id"), .integer("version")],
        key: ["user_id", "version"])

    /// The times at which work on the whole ledger was done.
    fileprivate static let figureUpkeep = Table(
        name: "figure_upkeep", family: .everywhere, columns: [.text("subject"), .integer("done_at")], key: ["subject"])
}
