import Commerce
import Ledger

/// The calculation of a figure from the sums.
struct FigureCalculation {
    let query: FigureQuery
    /// The day of the query, which is not over.
    let today: CalendarDay
    private let formula: FigureFormula

    init(_ query: FigureQuery, today: CalendarDay) {
        self.query = query
        self.today = today
        formula = query.figure.formula
    }

    /// - Throws: `FigureError` for a time that has not begun, or for too many points.
    func answer(_ reading: FigureReading, _ upkeep: FigureUpkeepRecords) throws -> FigureAnswer {
        let last = min(query.last, today)
        guard query.first <= today,
            let firsts = query.interval.periods(from: query.first, to: last, upTo: FigureQuery.maximumPeriods)
        else { throw FigureError.timeInvalid }
        let times = firsts.map { $0..<query.interval.end($0) }
        let sums = try sums(of: times, reading)
        let past = formula.needsPast ? try sumsBefore(times[0].lowerBound, reading) : [:]
        let keys = Set(sums.flatMap(\.keys)).union(past.keys)
        guard keys.count * times.count <= FigureQuery.maximumPoints else { throw FigureError.tooManyPoints }
        // Without any sum, the answer has one series of zeros, if it has no group and no currency.
        let isEmpty = keys.isEmpty && query.group == nil && !formula.isMoney
        let series = (isEmpty ? [FigureReading.Series(group: "", currency: "")] : Array(keys)).sorted {
            ($0.group, $0.currency) < ($1.group, $1.currency)
        }
        return FigureAnswer(
            query: query,
            periods: times.map { time in
                FigureAnswer.Period(
                    first: time.lowerBound, last: time.upperBound.adding(days: -1),
                    isComplete: time.upperBound <= today)
            },
            series: series.map { key in
                FigureAnswer.Series(
                    group: query.group == nil ? nil : key.group.text,
                    currency: formula.isMoney ? key.currency.text : nil,
                    points: points(sums.map { $0[key] ?? [:] }, after: past[key] ?? [:]))
            },
            pendingUsers: try upkeep.pendingUsers(limit: FigureAnswer.maximumPending),
            isBackfilled: try upkeep.isBackfilled())
    }

    /// The sums of each period. Ends that a renewal may still move are included when their day is over.
    private func sums(of times: [Range<CalendarDay>], _ reading: FigureReading) throws -> [FigureReading.Sums] {
        let (anticipated, known) = (metrics(isAnticipated: true), metrics(isAnticipated: false))
        let sums = try reading.sums(of: times.map { clipped($0, to: today.adding(days: 1)) }, known)
        guard !anticipated.isEmpty else { return sums }
        let ends = try reading.sums(of: times.map { clipped($0, to: today) }, anticipated)
        return zip(sums, ends).map(Self.merged)
    }

    private func sumsBefore(_ day: CalendarDay, _ reading: FigureReading) throws -> FigureReading.Sums {
        try reading.sums(before: day, formula.metrics)
    }

    private func metrics(isAnticipated: Bool) -> Set<FigureMetric> {
        formula.metrics.filter { $0.isAnticipated == isAnticipated }
    }

    private func clipped(_ time: Range<CalendarDay>, to end: CalendarDay) -> Range<CalendarDay> {
        min(time.lowerBound, end)..<min(time.upperBound, end)
    }

    private static func merged(_ one: FigureReading.Sums, _ other: FigureReading.Sums) -> FigureReading.Sums {
        one.merging(other) { $0.merging($1) { $0 &+ $1 } }
    }

    private func points(
        _ sums: [[FigureMetric: Int64]],
        after past: [FigureMetric: Int64]
    ) -> [FigureAnswer.Point] {
        var all = past
        return sums.map { sums in
            let before = all
            all.merge(sums) { $0 &+ $1 }
            return FigureAnswer.Point(
                value: formula.sum.value(formula.kind == .level ? all : sums),
                denominator: formula.denominator?.value(formula.isOfLevel ? before : sums),
                parts: formula.parts.map { FigureAnswer.Part(name: $0.name, value: $0.sum.value(sums)) })
        }
    }
}

extension FigureFormula.Sum {
    fileprivate func value(_ sums: [FigureMetric: Int64]) -> Int64 {
        added.reduce(0) { $0 &+ (sums[$1] ?? 0) } &- subtracted.reduce(0) { $0 &+ (sums[$1] ?? 0) }
    }
}
