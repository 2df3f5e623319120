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
            pendingUsers: try database.value(
                "SELECT count(*) FROM (SELECT DISTINCT user_id FROM figure_pending LIMIT $1) AS pending",
                [FigureAnswer.maximumPending]) ?? 0,
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
