import Commerce
import Ledger

/// The SQL that reads sums, inside the caller's transaction.
///
/// A time is read as whole months and the remaining days, so that years of sums need few rows.
struct FigureReading {
    /// The subject of a series of sums.
    struct Series: Hashable {
        let group: ByteKey
        let currency: ByteKey
    }

    typealias Sums = [Series: [FigureMetric: Int64]]

    let database: any LedgerDatabase
    let query: FigureQuery
    /// The number of the app in the query; nil for all apps.
    let app: Int64?
    /// The bundle identifiers of apps.
    let apps: [Int64: String]

    private struct Cell: Hashable {
        let span: FigureSpan
        let day: CalendarDay
    }

    /// The sums of time ranges.
    func sums(of times: [Range<CalendarDay>], _ metrics: Set<FigureMetric>) throws -> [Sums] {
        let cells = times.map(Self.cells)
        let wanted = Set(cells.joined())
        var found: [Cell: Sums] = [:]
        for span in FigureSpan.allCases {
            let days = wanted.filter { $0.span == span }.map(\.day.daysSince1970).sorted()
            guard !days.isEmpty else { continue }
            for row in try rows(span, days, metrics) {
                let cell = Cell(span: span, day: CalendarDay(daysSince1970: try row["day"]))
                let series = Series(group: try group(of: row), currency: ByteKey(try row["currency"]))
                guard let metric = FigureMetric(try row["metric"] as SQLValue) else { continue }
                found[cell, default: [:]][series, default: [:]][metric, default: 0] &+= try row["amount"]
            }
        }
        return cells.map { cells in
            cells.reduce(into: [:]) { sums, cell in
                for (series, amounts) in found[cell] ?? [:] {
                    sums[series, default: [:]].merge(amounts) { $0 &+ $1 }
                }
            }
        }
    }

    /// The sums of all days before a day.
    func sums(before day: CalendarDay, _ metrics: Set<FigureMetric>) throws -> Sums {
        let first: Int64? = try database.value("SELECT day FROM figure ORDER BY day LIMIT 1", [])
        guard let first, first < day.daysSince1970 else { return [:] }
        return try sums(of: [CalendarDay(daysSince1970: first)..<day], metrics).first ?? [:]
    }

    /// The whole months and the remaining days of a time range.
    private static func cells(of time: Range<CalendarDay>) -> [Cell] {
        var cells: [Cell] = []
        var day = time.lowerBound
        while day < time.upperBound {
            let end = day.firstOfNextMonth
            if day == day.firstOfMonth, end <= time.upperBound {
                cells.append(Cell(span: .month, day: day))
                day = end
            } else {
                cells.append(Cell(span: .day, day: day))
                day = day.adding(days: 1)
            }
        }
        return cells
    }

    private func rows(_ span: FigureSpan, _ days: [Int64], _ metrics: Set<FigureMetric>) throws -> [SQLRow] {
        var arguments: [any SQLConvertible] = [database.list(days), span.rawValue, query.breakdown.rawValue]
        var conditions = ""
        func require(_ column: String, _ value: (any SQLConvertible)?) {
            guard let value else { return }
            arguments.append(value)
            conditions += " AND \(column) = $\(arguments.count)"
        }
        require("app", app)
        require("product_id", query.product)
        require("storefront", query.storefront)
        let group = column.map { ", \($0)" } ?? ""
        let names = metrics.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        return try database.rows(
            """
            SELECT day, metric, currency\(group), CAST(sum(amount) AS BIGINT) AS amount
            FROM \(database.listed("$1")) JOIN figure ON day = listed.value
            WHERE span = $2 AND breakdown = $3 AND metric IN (\(names))
                AND origin IN \(query.environment.origins.sqlList)\(conditions)
            GROUP BY day, metric, currency\(group)
            """,
            arguments)
    }

    /// The column of the series; nil for one series.
    private var column: String? {
        switch query.group {
        case .app: "app"
        case .product: "product_id"
        case .storefront: "storefront"
        case .origin: "origin"
        case nil: nil
        }
    }

    private func group(of row: SQLRow) throws -> ByteKey {
        guard let column else { return "" }
        guard query.group == .app else { return ByteKey(try row[column]) }
        guard let name = apps[try row[column]] else { throw SQLRow.Mismatch(column: column) }
        return ByteKey(name)
    }
}
