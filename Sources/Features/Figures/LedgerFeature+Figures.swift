import Ledger

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
    /// The sums. `day`: the day, or the first of the month, in days since 1970; `span`: `FigureSpan`; `breakdown`:
    /// `FigureBreakdown`, which determines whether the product or the storefront is set.
    fileprivate static let figure = Table(
        name: "figure", family: .globalKey,
        columns: [
            .integer("day"), .integer("span", check: "span IN (0, 1)"), .text("metric"),
            .integer("breakdown", check: "breakdown IN (0, 1, 2)"), .integer("app"), .text("origin"),
            .text("product_id"), .text("storefront"), .text("currency"), .integer("amount"),
        ],
        key: FigureRow.columns)

    /// The users whose first payment was in a month (`day`: its first day), and who paid or were subscribed some months after.
    fileprivate static let figureCohort = Table(
        name: "figure_cohort", family: .globalKey,
        columns: [
            .integer("day"), .integer("months_after"), .integer("app"), .text("origin"), .integer("users"),
        ],
        key: FigureCohort.columns)

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
