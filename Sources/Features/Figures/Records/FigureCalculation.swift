import Ledger
import Proofs

struct FigureCalculation {
    let query: FigureQuery
    /// The day of the query, which is not over.
    let today: CalendarDay
    let database: any LedgerDatabase
    /// The bundle identifiers of apps.
    let apps: [Int64: String]
    /// The number of the app in the query; 0 for an unknown app, and nil for all apps.
    let app: Int64?
    private let formula: FigureFormula

    init(_ query: FigureQuery, today: CalendarDay, in database: any LedgerDatabase) throws {
        (self.query, self.today, self.database) = (query, today, database)
        let apps = try database.apps.names()
        self.apps = apps
        app = query.app.map { name in apps.first { ByteKey($0.value) == ByteKey(name) }?.key ?? 0 }
        formula = query.figure.formula
    }

    /// - Throws: `FigureError` for a time that has not begun, or for too many points.
    func answer() throws -> FigureAnswer {
        let last = min(query.last, today)
        guard query.first <= today,
            let firsts = query.interval.periods(from: query.first, to: last, upTo: FigureQuery.maximumPeriods)
        else { throw FigureError.timeInvalid }
        let times = firsts.map { $0..<query.interval.end($0) }
        return FigureAnswer(
            query: query,
            periods: times.map { time in
                FigureAnswer.Period(
                    first: time.lowerBound, last: time.upperBound.adding(days: -1),
                    isComplete: time.upperBound <= today)
            },
            series: formula.kind == .cohort ? try retention(of: firsts) : try series(of: times),
            pendingUsers: try database.single(
                "SELECT count(*) FROM (SELECT DISTINCT user_id FROM figure_pending LIMIT $1) AS pending",
                [FigureAnswer.maximumPending]),
            isBackfilled: try database.isFigureBackfilled())
    }

    /// The series in the order of their groups and currencies.
    private func series(of times: [Range<CalendarDay>]) throws -> [FigureAnswer.Series] {
        let table = try table(of: times)
        let order = table.series.indices.sorted {
            let (one, other) = (table.series[$0], table.series[$1])
            return (one.group, one.currency) < (other.group, other.currency)
        }
        return order.map { number in
            let series = table.series[number]
            return FigureAnswer.Series(
                group: query.group == nil ? nil : series.group.text,
                currency: formula.isMoney ? series.currency.text : nil, points: points(of: number, table))
        }
    }

    /// The sums of the time before the first period, and of each period. Ends that a renewal may still move count when their
    /// day is over.
    private func table(of times: [Range<CalendarDay>]) throws -> FigureTable {
        var table = FigureTable(
            formula.metrics, times: times.count + 1, maximumPoints: maximumPoints(of: times.count))
        let tomorrow = today.adding(days: 1)
        func periods(until end: CalendarDay) -> [Time] {
            times.enumerated().map { place, days in
                .init(place: place + 1, days: min(days.lowerBound, end)..<min(days.upperBound, end))
            }
        }
        func itself(_ metrics: Set<FigureMetric>) -> [FigureMetric: FigureMetric] {
            Dictionary(uniqueKeysWithValues: metrics.map { ($0, $0) })
        }
        var past: [Time] = []
        if formula.needsEarlierDays, let first = try firstDay(), first < times[0].lowerBound {
            past = [.init(place: 0, days: first..<times[0].lowerBound)]
        }
        try add(
            past + periods(until: tomorrow), itself(formula.metrics.filter { !$0.isAnticipated }), to: &table)
        let anticipated = itself(formula.metrics.filter(\.isAnticipated))
        try add(past + periods(until: today), anticipated, to: &table)
        // A net sum has them: those of today are taken out again.
        let parts = formula.metrics.compactMap { net in net.anticipatedPart.map { ($0, net) } }
        if let place = times.lastIndex(where: { $0.contains(today) }) {
            try add(
                [.init(place: place + 1, days: today..<tomorrow)], Dictionary(uniqueKeysWithValues: parts), to: &table)
        }
        // Without any sum there is still one series, of zeros, if it has no group and no currency.
        if table.series.isEmpty, query.group == nil, !formula.isMoney {
            _ = try table.number(of: FigureTable.Series(currency: "", group: ""))
        }
        return table
    }

    /// The points of a table that has the time before the first period, too.
    private func maximumPoints(of periods: Int) -> Int {
        FigureQuery.maximumPoints / periods * (periods + 1)
    }

    private func points(of series: Int, _ table: FigureTable) -> [FigureAnswer.Point] {
        let values = running(
            table.values(of: formula.sum, series: series), if: formula.kind == .level || formula.isCumulative)
        let denominators = formula.denominator.map {
            running(table.values(of: $0, series: series), if: formula.isOfLevel || formula.isCumulative)
        }
        let parts = formula.parts.map { ($0.name, table.values(of: $0.sum, series: series)) }
        return (1..<table.times).map { time in
            FigureAnswer.Point(
                value: values[time] &* formula.factor,
                // A level is that of the time before.
                denominator: denominators.map { $0[formula.isOfLevel ? time - 1 : time] },
                parts: parts.map { FigureAnswer.Part(name: $0, value: $1[time]) })
        }
    }

    /// The sums up to each time, if they are a level.
    private func running(_ values: [Int64], if isLevel: Bool) -> [Int64] {
        guard isLevel else { return values }
        var sum: Int64 = 0
        return values.map { value in
            sum &+= value
            return sum
        }
    }
}

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
                AND \(query.isOfOrigin)\(conditions)
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
        case .origin: return ByteKey((try row.next() as Origin).rawValue)
        case .product, .storefront, nil: return ByteKey(try row.next())
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
