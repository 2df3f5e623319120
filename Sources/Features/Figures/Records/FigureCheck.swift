import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The check of the sums. The contribution of each user must follow from the user's transactions, and the sums must be those of
/// the contributions. The sums of each customer must follow from the same transactions.
///
/// It needs memory for a page of users, and for a fingerprint of each month.
struct FigureCheck {
    private static let usersOfPage = 200
    private static let remedy = "Run `till figures --rebuild`."

    let database: any LedgerDatabase

    /// - Returns: A sentence for each problem, at most `limit`.
    func problems(limit: Int) throws -> [String] {
        var problems: [String] = []
        var fingerprints = FigureFingerprints()
        var last = Int64.min
        while case let page = try page(after: last), let user = page.last?.user {
            last = user
            let current = Set(page.filter(\.isCurrent).map(\.user))
            let transactions = try ReadingRecords(database: database).transactions(
                of: current, stating: UserFigures.facts)
            let customers = try database.customerSums(of: current.sorted())
            for entry in page {
                let bought = transactions[entry.user] ?? []
                if entry.isCurrent, customers[entry.user] ?? [] != (entry.isErased ? [] : CustomerSums.all(of: bought))
                {
                    problems.append(
                        "The sums of customer \(entry.user) differ from the transactions. \(Self.remedy)")
                }
                guard let sums = try? FigureSumsCoding.decode(entry.contribution.sums) else {
                    problems.append("The figures of user \(entry.user) are damaged. \(Self.remedy)")
                    continue
                }
                for (key, amount) in sums.amounts {
                    for row in FigureRow.all(of: key) { fingerprints.add(amount, to: row, in: row.day) }
                }
                for cohort in FigureCohort.all(of: sums) { fingerprints.add(1, to: cohort, in: cohort.month) }
                if entry.isCurrent, sums != UserFigures.sums(of: bought) {
                    problems.append(
                        "The figures of user \(entry.user) differ from the transactions. \(Self.remedy)")
                }
            }
        }
        let columns = (FigureRow.columns + ["amount"]).joined(separator: ", ")
        try database.streamRows(of: "SELECT \(columns) FROM figure") { row in
            guard let key = try FigureRow(&row) else { return }
            fingerprints.add(0 &- (try row.next() as Int64), to: key, in: key.day)
        }
        let cohorts = (FigureCohort.columns + ["users"]).joined(separator: ", ")
        try database.streamRows(of: "SELECT \(cohorts) FROM figure_cohort") { row in
            let cohort = try FigureCohort(&row)
            fingerprints.add(0 &- (try row.next() as Int64), to: cohort, in: cohort.month)
        }
        problems += fingerprints.unequal.sorted().prefix(limit).map {
            "The figures of \($0.description.prefix(7)) differ from the sum of the users' figures. \(Self.remedy)"
        }
        return Array(problems.prefix(limit))
    }

    /// A user's contribution. It is current if the user was not written since, and the rules are of this version.
    private typealias Entry = (user: Int64, isErased: Bool, contribution: FigureContribution, isCurrent: Bool)

    /// The next contributions, in the order of their users; none after the last page.
    private func page(after user: Int64) throws -> [Entry] {
        try database.rows(
            """
            SELECT contribution.user_id, "user".issuer, "user".version, \(FigureContribution.columns)
            FROM figure_contribution AS contribution JOIN "user" ON "user".user_id = contribution.user_id
            WHERE contribution.user_id > $1 ORDER BY contribution.user_id LIMIT $2
            """,
            [user, Self.usersOfPage]
        ) { row in
            let (user, issuer, written): (Int64, String, Int64) = (try row.next(), try row.next(), try row.next())
            let contribution = try FigureContribution(&row)
            return (
                user, issuer == User.erasedIssuer, contribution,
                contribution.version == written && contribution.rules == UserFigures.version
            )
        }
    }
}

/// The fingerprints of the sums of each month. Different sums have the same fingerprint with a probability of 1 in 2^64.
///
/// A fingerprint is the sum of all amounts, each multiplied by a pseudorandom number of its key in this process.
struct FigureFingerprints {
    private var fingerprints: [CalendarDay: UInt64] = [:]

    /// The first days of the months whose fingerprints are not zero.
    var unequal: [CalendarDay] { fingerprints.filter { $0.value != 0 }.map(\.key) }

    /// Adds an amount of a row.
    ///
    /// - Parameters:
    ///   - row: The key of the row.
    ///   - day: A day of its month.
    mutating func add(_ amount: Int64, to row: some Hashable, in day: CalendarDay) {
        // An odd factor preserves each bit of the amount.
        let factor = UInt64(bitPattern: Int64(row.hashValue)) | 1
        fingerprints[day.firstOfMonth, default: 0] &+= UInt64(bitPattern: amount) &* factor
    }
}
