import Ledger
import Proofs

/// The use cases of the figures: update the sums, and answer queries.
package struct FigureService: Sendable {
    /// The number of users in one commit. It takes some milliseconds, during which SQLite has no other commit.
    private static let usersOfBatch = 32
    private static let usersOfPage = 1000

    private let ledger: Ledger
    private let clock: any WallClock

    package init(ledger: Ledger, clock: any WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    package var today: CalendarDay { CalendarDay(clock.now()) }

    /// - Throws: `FigureError`, `StorageFault`.
    package func answer(_ query: FigureQuery) async throws -> FigureAnswer {
        let today = today
        return try await ledger.read(.longSnapshot) {
            try FigureCalculation(query, today: today, in: $0.database).answer()
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
            guard let next = batch.last?.user else { return damaged }
            damaged += try await ledger.writeInBackground { try $0.updateFigures(batch) }
            guard await pause() else { return damaged }
            last = next
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
            for table in ["figure", "figure_contribution", "figure_pending", "figure_upkeep"] {
                try transaction.database.write("DELETE FROM \(table)", [])
            }
        }
        try await sweep()
        try await rollUp()
    }
}

extension LedgerDatabase {
    /// True if all users from before figures were turned on were marked.
    func isFigureBackfilled() throws -> Bool {
        let moment: Timestamp? = try value("SELECT done_at FROM figure_upkeep WHERE subject = $1", ["backfill"])
        return moment != nil
    }
}

/// The SQL that updates the sums.
extension LedgerTransaction {
    /// Reads the next users whose sums are pending, and computes their sums.
    fileprivate func pendingFigures(after user: Int64, limit: Int) throws -> [FigureUpdate] {
        let users: [Int64] = try database.rows(
            "SELECT DISTINCT user_id FROM figure_pending WHERE user_id > $1 ORDER BY user_id LIMIT $2", [user, limit]
        ).map { try $0["user_id"] }
        guard !users.isEmpty else { return [] }
        let listed = database.listed("$1")
        var versions: [Int64: Int64] = [:]
        let heads = try database.rows(
            #"SELECT user_id, version FROM \#(listed) JOIN "user" ON user_id = listed.value"#, [database.list(users)])
        for row in heads { versions[try row["user_id"]] = try row["version"] as Int64 }
        var pending: [Int64: [Int64]] = [:]
        let marks = try database.rows(
            "SELECT user_id, version FROM \(listed) JOIN figure_pending ON user_id = listed.value",
            [database.list(users)])
        for row in marks { pending[try row["user_id"], default: []].append(try row["version"]) }
        let previous = try contributions(of: users)
        let transactions = try ReadingRecords(database: database).transactions(
            of: Set(users), stating: UserFigures.facts)
        return users.map { user in
            FigureUpdate(
                user: user, version: versions[user] ?? 0, pending: pending[user] ?? [], previous: previous[user],
                sums: UserFigures.sums(of: transactions[user] ?? []))
        }
    }

    /// Adds a batch to the sums, without the users that another process has updated since the batch was read.
    ///
    /// The number of statements does not depend on the number of users.
    ///
    /// - Returns: The number of users whose contributions were damaged. The sums have what the damaged ones said, which is taken
    ///   for what the transactions say: what was written since is lacking until the sums are computed anew.
    fileprivate func updateFigures(_ batch: [FigureUpdate]) throws -> Int {
        let present = try contributions(of: batch.map(\.user))
        let entries = batch.filter { present[$0.user] == $0.previous }
        var rows: [FigureRow: Int64] = [:]
        var damaged = 0
        for entry in entries {
            var change = entry.sums
            if let previous = entry.previous {
                let sums = try? FigureSumsCoding.decode(previous.sums)
                if sums == nil { damaged += 1 }
                change.add(sums ?? entry.sums, times: -1)
            }
            for (key, amount) in change.amounts {
                for row in FigureRow.all(of: key) { rows[row, default: 0] &+= amount }
            }
        }
        try database.add(
            to: "figure", "amount", where: FigureRow.columns,
            // The order of the keys prevents deadlocks between two processes.
            rows.filter { $0.value != 0 }.sorted { $0.key < $1.key }.map { $0.values + [$1] })
        try database.delete(from: "figure_contribution", where: ["user_id"], entries.map { [$0.user] })
        try database.insert(
            into: "figure_contribution", ["user_id", "version", "rules", "sums"],
            entries.map { [$0.user, $0.version, UserFigures.version, FigureSumsCoding.encode($0.sums)] })
        try database.delete(
            from: "figure_pending", where: ["user_id", "version"],
            entries.flatMap { entry in entry.pending.sorted().map { [entry.user, $0] } })
        return damaged
    }

    /// Finds outdated users without marks on a page of all users. Their sums were computed after another write or by other
    /// rules.
    ///
    /// - Returns: The marks to write, and the last user of the page; nil after the last page.
    fileprivate func outdatedFigures(after user: Int64, limit: Int) throws -> (marks: [FigureMark], last: Int64?) {
        let rows = try database.rows(
            """
            SELECT "user".user_id, "user".version, last_transaction, contribution.version AS computed, rules
            FROM "user" LEFT JOIN figure_contribution AS contribution ON contribution.user_id = "user".user_id
            WHERE "user".user_id > $1 ORDER BY "user".user_id LIMIT $2
            """,
            [user, limit])
        let marks = try rows.compactMap { row -> FigureMark? in
            let (user, version): (Int64, Int64) = (try row["user_id"], try row["version"])
            let (computed, rules): (Int64?, Int?) = (try row["computed"], try row["rules"])
            let transactions: Int64 = try row["last_transaction"]
            let isNew = computed == nil && transactions == 0
            guard !isNew, computed != version || rules != UserFigures.version else { return nil }
            return (user, version)
        }
        return (marks, try rows.last?["user_id"])
    }

    private func contributions(of users: [Int64]) throws -> [Int64: FigureContribution] {
        var contributions: [Int64: FigureContribution] = [:]
        let rows = try database.rows(
            """
            SELECT user_id, version, rules, sums FROM \(database.listed("$1"))
                JOIN figure_contribution ON user_id = listed.value
            """,
            [database.list(users)])
        for row in rows { contributions[try row["user_id"]] = try FigureContribution(row) }
        return contributions
    }
}

/// A user whose contribution is recomputed.
struct FigureUpdate: Sendable {
    let user: Int64
    /// The number of the last write for the user.
    let version: Int64
    /// The numbers of the writes that the sums did not include.
    let pending: [Int64]
    let previous: FigureContribution?
    let sums: FigureSums
}

/// The contribution of a user to the sums.
struct FigureContribution: Hashable, Sendable {
    /// The number of the write after which it was computed.
    let version: Int64
    /// The version of the rules by which it was computed.
    let rules: Int
    let sums: [UInt8]

    init(_ row: SQLRow) throws {
        (version, rules) = (try row["version"], try row["rules"])
        sums = try row["sums"]
    }
}

/// A write for a user that the sums do not include yet.
typealias FigureMark = (user: Int64, version: Int64)
