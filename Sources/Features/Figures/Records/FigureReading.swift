import Ledger
import Proofs

/// The SQL that reads sums.
///
/// A time is read as whole months and the remaining days, so that years of sums need few rows.
extension FigureCalculation {
    /// A time, from a day to the day before another, and its place in a table.
    struct Time {
        let place: Int
        let days: Range<CalendarDay>
    }

    /// Adds the sums of times to a table.
    ///
    /// - Parameter metrics: The metrics that are read, each with the metric of the table.
    /// - Throws: `FigureError.tooManyPoints`.
    func add(_ times: [Time], _ metrics: [FigureMetric: FigureMetric], to table: inout FigureTable) throws {
        guard !metrics.isEmpty else { return }
        for (span, places) in Self.places(of: times).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            try database.forEachRow(sums(of: places.keys.sorted(), by: span, metrics, table)) { row in
                let (day, metric, amount): (Int64, Int, Int64) = (try row.next(), try row.next(), try row.next())
                guard let place = places[day] else { throw ColumnMismatch.column("day") }
                let series = FigureTable.Series(currency: ByteKey(try row.next()), group: try group(&row))
                table.add(amount, series: try table.number(of: series), metric: metric, time: place)
            }
        }
    }

    /// The first day that has a sum; nil without one.
    func firstDay() throws -> CalendarDay? {
        let first: Int64? = try database.value("SELECT day FROM figure ORDER BY day LIMIT 1", [])
        return first.map { CalendarDay(daysSince1970: $0) }
    }

    /// The first days of the whole months and the remaining days of times, each with the place of its time in a table.
    private static func places(of times: [Time]) -> [FigureSpan: [Int64: Int]] {
        var places: [FigureSpan: [Int64: Int]] = [:]
        for time in times {
            var day = time.days.lowerBound
            while day < time.days.upperBound {
                let end = day.firstOfNextMonth
                let isMonth = day == day.firstOfMonth && end <= time.days.upperBound
                places[isMonth ? .month : .day, default: [:]][day.daysSince1970] = time.place
                day = isMonth ? end : day.adding(days: 1)
            }
        }
        return places
    }

    /// The day, the place of the metric in a table, the amount, the currency and the group of each sum.
    ///
    /// Without GROUP BY, for which SQLite would sort all rows: apps and origins are few, and are added up in the table.
    private func sums(
        of days: [Int64], by span: FigureSpan, _ metrics: [FigureMetric: FigureMetric], _ table: FigureTable
    ) -> SQLQuery {
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
        let places = metrics.compactMap { metric, target in
            table.metrics.firstIndex(of: target).map { "WHEN '\(metric.rawValue)' THEN \($0)" }
        }.sorted().joined(separator: " ")
        let names = metrics.keys.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        return SQLQuery(
            """
            SELECT day, CASE metric \(places) END, amount, currency, \(query.group?.column ?? "''")
            FROM figure
            WHERE day \(database.isIn(numbers: "$1")) AND span = $2 AND breakdown = $3 AND metric IN (\(names))
                AND origin IN \(query.origins.sqlList)\(conditions)
            """,
            arguments)
    }

    /// The group of a sum, from its column.
    private func group(_ row: inout ResultRow) throws -> ByteKey {
        switch query.group {
        case .app:
            guard let name = apps[try row.next()] else { throw ColumnMismatch.column("app") }
            return ByteKey(name)
        case .store: return ByteKey((try row.next() as Origin).store.rawValue)
        case .product, .storefront, .origin, nil: return ByteKey(try row.next())
        }
    }
}

/// Sums by series, metric and time, in one array: an answer has up to 50,000 points.
struct FigureTable {
    /// The subject of a series of sums.
    struct Series: Hashable {
        let currency: ByteKey
        let group: ByteKey
    }

    let metrics: [FigureMetric]
    let times: Int
    /// The largest number of series.
    private let maximumSeries: Int
    /// In the order in which they were met.
    private(set) var series: [Series] = []
    private var numbers: [Series: Int] = [:]
    /// The amounts of each series, of each metric, of each time.
    private var amounts: [Int64] = []

    init(_ metrics: Set<FigureMetric>, times: Int, maximumPoints: Int) {
        self.metrics = metrics.sorted { $0.rawValue < $1.rawValue }
        self.times = times
        maximumSeries = maximumPoints / max(1, times)
    }

    /// The number of a series, which gets one at first sight.
    ///
    /// - Throws: `FigureError.tooManyPoints`.
    mutating func number(of series: Series) throws(FigureError) -> Int {
        if let number = numbers[series] { return number }
        guard self.series.count < maximumSeries else { throw .tooManyPoints }
        numbers[series] = self.series.count
        self.series.append(series)
        amounts += repeatElement(0, count: metrics.count * times)
        return self.series.count - 1
    }

    /// - Parameters:
    ///   - series: The number of the series.
    ///   - metric: The place of the metric among the metrics.
    mutating func add(_ amount: Int64, series: Int, metric: Int, time: Int) {
        amounts[(series * metrics.count + metric) * times + time] &+= amount
    }

    /// The amounts of a series at each time: the sum of some metrics, less others.
    func values(of sum: FigureFormula.Sum, series: Int) -> [Int64] {
        var values = [Int64](repeating: 0, count: times)
        func add(_ metric: FigureMetric, _ sign: Int64) {
            guard let place = metrics.firstIndex(of: metric) else { return }
            let start = (series * metrics.count + place) * times
            for time in 0..<times { values[time] &+= sign &* amounts[start + time] }
        }
        for metric in sum.added { add(metric, 1) }
        for metric in sum.subtracted { add(metric, -1) }
        return values
    }
}
