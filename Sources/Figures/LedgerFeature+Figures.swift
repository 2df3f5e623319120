import Ledger

extension LedgerFeature {
    /// The sums of what was sold, by day and month.
    package static let figures = LedgerFeature(
        tables: [.figure, .figureContribution, .figurePending, .figureUpkeep],
        check: { database, limit in try FigureCheck(database: database).problems(limit: limit) },
        writeFollower: { heads, database in
            // Each write has a number of its own: no writer waits for the job that takes the marks out.
            try database.insert(
                into: "figure_pending", ["user_id", "version"],
                heads.filter { $0.value.lastTransaction > 0 }.sorted { $0.key < $1.key }.map {
                    [$0.key, $0.value.nextVersion]
                }, isNew: false)
        })
}

extension Table {
    /// The sums. `day`: the day, or the first of the month, in days since 1970; `span`: `FigureSpan`; `breakdown`:
    /// `FigureBreakdown`, by which the columns of the product and the storefront are empty.
    fileprivate static let figure = Table(
        name: "figure", family: .globalKey,
        columns: [
            .integer("day"), .integer("span", check: "span IN (0, 1)"), .text("metric"),
            .integer("breakdown", check: "breakdown IN (0, 1, 2)"), .integer("app"), .text("origin"),
            .text("product_id"), .text("storefront"), .text("currency"), .integer("amount"),
        ],
        key: FigureRow.columns)

    /// The contribution of each user to the sums. `version`: the number of the write that it was computed after; `rules`: the
    /// version of the rules. The rows name nobody, and stay when a user is erased, as the user's transactions do.
    fileprivate static let figureContribution = Table(
        name: "figure_contribution", family: .userData,
        columns: [.integer("user_id"), .integer("version"), .integer("rules"), .blob("sums")],
        key: ["user_id"], references: [Reference(columns: ["user_id"], table: "user")], hasLargeRows: true)

    /// The writes for users that the sums lack.
    fileprivate static let figurePending = Table(
        name: "figure_pending", family: .userData, columns: [.integer("user_id"), .integer("version")],
        key: ["user_id", "version"], references: [Reference(columns: ["user_id"], table: "user")])

    /// The moments at which work on the whole ledger was done.
    fileprivate static let figureUpkeep = Table(
        name: "figure_upkeep", family: .everywhere, columns: [.text("subject"), .integer("done_at")], key: ["subject"])
}
