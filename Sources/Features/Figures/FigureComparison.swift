import Proofs

/// A figure of a time, beside the same figure of the time before it.
package struct FigureComparison: Sendable {
    /// A figure of a whole time in one currency.
    package struct Total: Hashable, Sendable {
        /// Nil for a figure that is not money.
        package let currency: String?
        /// The value of all periods, also of one that is not over. For a level, that of the last one.
        package let value: FigureAnswer.Point
        /// The value of the complete periods. Nil if there is none.
        package let complete: FigureAnswer.Point?
        /// The value of as many periods of the time before. Nil if there is none.
        package let before: FigureAnswer.Point?
        /// The values of the periods of the answer.
        package let points: [FigureAnswer.Point]
        /// The values of the time before, one for each period of the answer; nil where that time had none.
        package let earlier: [FigureAnswer.Point?]

        /// The change of the complete periods in percent, or of a rate in percentage points. Nil without a value before.
        package var change: Double? {
            guard let complete, let before else { return nil }
            if currency == nil, let now = complete.percentage, let then = before.percentage { return now - then }
            guard let now = complete.ratio, let then = before.ratio, then != 0 else { return nil }
            return (now - then) / then.magnitude * 100
        }
    }

    package let answer: FigureAnswer
    /// The day of the answer, which is not over.
    package let today: CalendarDay
    /// The totals in each currency, those with the largest values first.
    package let totals: [Total]
    /// The complete periods of the answer, and those before them. Nil without a complete period.
    package let compared: (now: ClosedRange<CalendarDay>, before: ClosedRange<CalendarDay>)?

    init(_ answer: FigureAnswer, before: FigureAnswer?, today: CalendarDay) {
        let figure = answer.query.figure
        (self.answer, self.today) = (answer, today)
        // The time before may be shorter, as February is.
        let complete = answer.periods.prefix(while: \.isComplete)
        let earlier = before.map { $0.periods.prefix(complete.count) } ?? []
        if let first = complete.first, let last = complete.last, let start = earlier.first, let end = earlier.last {
            compared = (first.first...last.last, start.first...end.last)
        } else {
            compared = nil
        }
        let currencies = answer.currencies.union(before?.currencies ?? [])
        let totals = currencies.map { currency in
            let points = answer.points(in: currency)
            let earlierPoints = before?.points(in: currency) ?? []
            return Total(
                currency: currency, value: figure.total(of: points) ?? .zero,
                complete: figure.total(of: points.prefix(complete.count)),
                before: figure.total(of: earlierPoints.prefix(complete.count)), points: points,
                earlier: points.indices.map { earlierPoints.indices.contains($0) ? earlierPoints[$0] : nil })
        }
        self.totals = totals.sorted {
            ($1.value.value.magnitude, $0.currency ?? "") < ($0.value.value.magnitude, $1.currency ?? "")
        }
    }
}

extension FigureQuery {
    /// The same figure of as many periods directly before. The days of a month are compared with those of the month before.
    ///
    /// - Returns: Nil if these are before 1970 or too many.
    func before(today: CalendarDay) -> FigureQuery? {
        let (start, last) = (interval.first(first), min(last, today))
        guard let count = interval.periods(from: first, to: last, upTo: Self.maximumPeriods)?.count else { return nil }
        var earlier = start
        if interval == .day, start == start.firstOfMonth, last < start.firstOfNextMonth {
            earlier = start.adding(days: -1).firstOfMonth
        } else {
            for _ in 0..<count where earlier.daysSince1970 >= 0 { earlier = interval.first(earlier.adding(days: -1)) }
        }
        guard earlier.daysSince1970 >= 0 else { return nil }
        return try? FigureQuery(
            figure, in: environment, by: interval, from: earlier, to: start.adding(days: -1), app: app,
            product: product, storefront: storefront, store: store)
    }
}

extension FigureAnswer {
    /// The currencies of the series; nil for a figure that is not money.
    fileprivate var currencies: Set<String?> { Set(series.map(\.currency)) }

    /// The values of all groups together.
    fileprivate func points(in currency: String?) -> [Point] {
        let series = series.filter { $0.currency == currency }
        return series.isEmpty ? [] : periods.indices.map { index in .sum(of: series.map { $0.points[index] }) }
    }
}

extension FigureAnswer.Point {
    static let zero = FigureAnswer.Point(value: 0)

    /// The values of several groups or periods as one, without parts.
    package static func sum(of points: some Sequence<FigureAnswer.Point>) -> FigureAnswer.Point {
        points.reduce(nil) { sum, point in
            FigureAnswer.Point(
                value: (sum?.value ?? 0) &+ point.value,
                denominator: point.denominator.map { (sum?.denominator ?? 0) &+ $0 })
        } ?? zero
    }

    /// The value, or the quotient of a rate. Nil for a quotient of nothing.
    var ratio: Double? {
        guard let denominator else { return Double(value) }
        return denominator > 0 ? Double(value) / Double(denominator) : nil
    }

    /// The quotient in percent. Nil for a value that is no quotient, or a quotient of nothing.
    var percentage: Double? { denominator == nil ? nil : ratio.map { $0 * 100 } }
}

extension Figure {
    /// Consecutive periods as one: the last one of a level, and the sum of the others.
    fileprivate func total(of points: some Collection<FigureAnswer.Point>) -> FigureAnswer.Point? {
        guard let first = points.first else { return nil }
        guard formula.kind != .level, !formula.isCumulative else { return points.reversed().first }
        let sum = FigureAnswer.Point.sum(of: points)
        return formula.isOfLevel
            ? FigureAnswer.Point(value: sum.value, denominator: first.denominator) : sum
    }
}
