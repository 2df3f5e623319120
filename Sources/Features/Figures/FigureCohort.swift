import Ledger
import Proofs

/// The key of a row of `figure_cohort`: the users of an app whose first payment was in a month, some months after it.
struct FigureCohort: Hashable {
    static let columns = ["day", "months_after", "app", "origin"]
    /// The largest number of months after the first payment: ten years.
    static let maximumMonthsAfter = 120

    /// The first day of the month of the first payment.
    let month: CalendarDay
    let monthsAfter: Int
    let app: Int64
    let origin: Origin

    var values: [any SQLConvertible] { [month.daysSince1970, monthsAfter, app, origin] }

    /// The cohorts to which a user's sums belong: one for each month in which the user paid, or was subscribed at its end.
    static func all(of sums: FigureSums) -> [FigureCohort] {
        Dictionary(grouping: sums.amounts) { FigurePayer($0.key.subject) }
            .flatMap { payer, amounts in
                let payments = amounts.lazy.filter { $0.key.metric == .payersNew }
                    .map { (day: $0.key.day, origin: $0.key.subject.origin) }
                // Of two first payments on a day, in two currencies, any one, but always the same.
                guard
                    let (first, origin) = payments.min(by: {
                        ($0.day, $0.origin.rawValue) < ($1.day, $1.origin.rawValue)
                    })
                else { return [FigureCohort]() }
                let paid = Set(amounts.filter { $0.key.metric == .payers }.map { $0.key.day.firstOfMonth })
                var changes = amounts.filter { $0.key.metric == .subscriptions }
                    .map { (day: $0.key.day, amount: $0.value) }.sorted { $0.day < $1.day }[...]
                var (cohorts, month, subscriptions): ([FigureCohort], CalendarDay, Int64) = ([], first.firstOfMonth, 0)
                let last = max(paid.max() ?? month, changes.last?.day ?? month)
                for monthsAfter in 0...maximumMonthsAfter where month <= last {
                    let next = month.firstOfNextMonth
                    while let change = changes.first, change.day < next {
                        subscriptions &+= change.amount
                        changes.removeFirst()
                    }
                    if paid.contains(month) || subscriptions > 0 {
                        cohorts.append(
                            FigureCohort(
                                month: first.firstOfMonth, monthsAfter: monthsAfter, app: payer.app, origin: origin))
                    }
                    month = next
                }
                return cohorts
            }
    }
}

/// A user as one who pays for an app: of both stores once, and of the sandbox apart.
struct FigurePayer: Hashable {
    let app: Int64
    let isSandbox: Bool

    init(_ subject: FigureSubject) {
        (app, isSandbox) = (subject.app, subject.origin.isSandbox)
    }
}

extension FigureCohort {
    init(_ row: inout ResultRow) throws {
        month = CalendarDay(daysSince1970: try row.next())
        (monthsAfter, app, origin) = (try row.next(), try row.next(), try row.next())
    }
}

extension Table {
    /// The users whose first payment was in a month (`day`: its first day), and who paid or were subscribed some months after.
    static let figureCohort = Table(
        name: "figure_cohort", family: .globalKey,
        columns: [
            .integer("day"), .integer("months_after"), .integer("app"), .origin("origin"), .integer("users"),
        ],
        key: FigureCohort.columns)
}

/// The order of the key.
extension FigureCohort: Comparable {
    static func < (left: FigureCohort, right: FigureCohort) -> Bool {
        (left.month, left.monthsAfter, left.app, left.origin.rawValue)
            < (right.month, right.monthsAfter, right.app, right.origin.rawValue)
    }
}

/// The SQL that reads cohorts.
extension FigureCalculation {
    /// The retention of the cohorts of some months: a series for each number of months after, up to this month.
    ///
    /// - Throws: `FigureError.tooManyPoints`.
    func retention(of months: [CalendarDay]) throws -> [FigureAnswer.Series] {
        guard let first = months.first else { return [] }
        let ages = FigureInterval.month.periods(from: first, to: today, upTo: FigureQuery.maximumPeriods)?.count ?? 0
        let count = min(ages, FigureCohort.maximumMonthsAfter + 1)
        guard count * months.count <= FigureQuery.maximumPoints else { throw FigureError.tooManyPoints }
        var users: [CalendarDay: [Int64]] = [:]
        try database.forEachRow(
            """
            SELECT day, months_after, users FROM figure_cohort
            WHERE day \(database.isIn(numbers: "$1")) AND months_after < $2
                AND \(query.isOfOrigin)\(app == nil ? "" : " AND app = $3")
            """,
            [database.list(months.map(\.daysSince1970)), count] + (app.map { [$0] } ?? [])
        ) { row in
            let (month, monthsAfter): (Int64, Int) = (try row.next(), try row.next())
            users[CalendarDay(daysSince1970: month), default: Array(repeating: 0, count: count)][monthsAfter] +=
                try row.next()
        }
        guard !users.isEmpty else { return [] }
        return (0..<count).map { monthsAfter in
            FigureAnswer.Series(
                group: String(monthsAfter), currency: nil,
                points: months.enumerated().map { place, month in
                    // A month that has not come is of nobody.
                    guard place + monthsAfter < ages, let users = users[month] else {
                        return FigureAnswer.Point(value: 0, denominator: 0)
                    }
                    return FigureAnswer.Point(value: users[monthsAfter], denominator: users[0])
                })
        }
    }
}
