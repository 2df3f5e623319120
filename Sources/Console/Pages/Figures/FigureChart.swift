import Features
import Proofs

/// The chart of a figure in one currency, or of a figure that is not money.
struct FigureChart {
    /// The largest number of groups with a series of their own. The other groups are one series.
    private static let maximumGroups = Chart.maximumSeries - 1

    let answer: FigureAnswer
    /// Nil for a figure that is not money.
    let currency: String?

    /// A chart for each currency.
    static func charts(of answer: FigureAnswer) -> [FigureChart] {
        let currencies = Set(answer.series.map(\.currency)).sorted { $0 ?? "" < $1 ?? "" }
        return currencies.map { FigureChart(answer: answer, currency: $0) }
    }

    var chart: Chart {
        Chart(
            name, figure.chartKind, unit: figure.isRate ? .percent : figure.isMoney ? .money : .count,
            periods: answer.periods.map { ChartPeriod($0, by: answer.query.interval) }, series: chartSeries)
    }

    /// The number of values that are drawn.
    var pointCount: Int {
        let series =
            answer.query.group == nil
            ? max(1, groups.first?.points.first?.parts.count ?? 0) : min(groups.count, Chart.maximumSeries)
        return series * answer.periods.count
    }

    /// The number of groups that share one series.
    var otherCount: Int { groups.count > Chart.maximumSeries ? groups.count - Self.maximumGroups : 0 }

    private var figure: Figure { answer.query.figure }

    private var groups: [FigureAnswer.Series] { answer.series.filter { $0.currency == currency } }

    private var name: Phrase {
        guard let currency else { return figure.title }
        return "\(figure.title), \(currency)"
    }

    private var chartSeries: [ChartSeries] {
        // A movement has a series for each of its parts.
        if answer.query.group == nil, let series = groups.first, let parts = series.points.first?.parts,
            !parts.isEmpty
        {
            return parts.indices.map { place in
                ChartSeries(
                    Self.title(ofPart: parts[place].name), series.points.map { point($0.parts[place].value, nil) })
            }
        }
        guard answer.query.group != nil else {
            return groups.map { series in
                ChartSeries(figure.title, series.points.map { point($0.value, $0.denominator) })
            }
        }
        // The largest groups come first.
        let sorted = groups.sorted { Self.weight($0) > Self.weight($1) }
        let shown = otherCount > 0 ? Array(sorted.prefix(Self.maximumGroups)) : sorted
        let series = shown.map { group in
            ChartSeries(title(ofGroup: group.group ?? ""), group.points.map { point($0.value, $0.denominator) })
        }
        guard otherCount > 0 else { return series }
        return series + [other(sorted.dropFirst(Self.maximumGroups))]
    }

    private func other(_ groups: ArraySlice<FigureAnswer.Series>) -> ChartSeries {
        ChartSeries(
            "\(groups.count) others",
            answer.periods.indices.map { index in
                let (value, denominator) = FigureText.total(groups.map { $0.points[index] })
                return point(value, figure.isRate ? denominator : nil)
            })
    }

    private static func weight(_ series: FigureAnswer.Series) -> Double {
        series.points.reduce(0) { $0 + Double($1.denominator?.magnitude ?? $1.value.magnitude) }
    }

    private func point(_ value: Int64, _ denominator: Int64?) -> ChartSeries.Point {
        if let denominator {
            guard let percent = FigureText.percent(value, of: denominator) else {
                return .init(nil, Phrase(same: "–"))
            }
            let (part, whole) = (Shown.digits(value), Shown.digits(denominator))
            return .init(FigureText.percentage(value, of: denominator), "\(percent) (\(part) of \(whole))")
        }
        if let currency { return .init(Double(value), Phrase(same: FigureText.money(value, currency))) }
        return .init(Double(value), Phrase(same: Shown.digits(value)))
    }

    private func title(ofGroup group: String) -> Phrase {
        guard group.isEmpty else { return Phrase(same: group) }
        return "not stated"
    }

    private static func title(ofPart part: String) -> Phrase {
        switch part {
        case "new": "new"
        case "resubscribed": "resubscribed"
        case "changed": "changed"
        case "churned": "churned"
        default: Phrase(same: part)
        }
    }
}

extension ChartPeriod {
    fileprivate init(_ period: FigureAnswer.Period, by interval: FigureInterval) {
        let (first, last) = (period.first.description, period.last.description)
        let parts = first.split(separator: "-").compactMap { Int($0) }
        let (year, month, day) = parts.count == 3 ? (parts[0], parts[1], parts[2]) : (0, 1, 1)
        let months = CustomerWords.months
        let name = months.indices.contains(month - 1) ? months[month - 1].prefix(3) : ""
        switch interval {
        case .day, .week:
            self.init(
                label: Phrase("\(name) \(day)\(korean: month)", context: "day"),
                name: interval == .day ? first : "\(first) – \(last)", isComplete: period.isComplete)
        case .month:
            self.init(
                label: Phrase("\(name) \(year)\(korean: month)", context: "month"), name: String(first.prefix(7)),
                isComplete: period.isComplete)
        }
    }
}

/// The values of figures as people read them.
package enum FigureText {
    /// An amount in units of its currency: `-KRW 1,200`.
    package static func money(_ milliunits: Int64, _ currency: String) -> String {
        let magnitude = Int64(min(milliunits.magnitude, UInt64(Int64.max)))
        return (milliunits < 0 ? "-" : "") + Price(milliunits: magnitude, currency: currency).formatted
    }

    /// An amount in whole units of its currency, for a card: `KRW 1,226,283` for a sum of 1,226,283.325 won.
    static func wholeMoney(_ milliunits: Int64, _ currency: String) -> String {
        let isLarge = milliunits.magnitude >= 100_000
        return money(isLarge ? milliunits - milliunits % 1000 : milliunits, currency)
    }

    /// A share in percent with one decimal: `12.5%`. Nil for a share of nothing.
    package static func percent(_ numerator: Int64, of denominator: Int64) -> String? {
        guard let percent = percentage(numerator, of: denominator) else { return nil }
        let tenths = Int64((percent * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)%"
    }

    /// A share in percent. Nil for a share of nothing.
    static func percentage(_ numerator: Int64, of denominator: Int64) -> Double? {
        guard denominator > 0 else { return nil }
        let percent = Double(numerator) / Double(denominator) * 100
        return min(max(percent, -1e12), 1e12)
    }

    /// The points of periods as one: the sum of the values, and of the denominators.
    static func total(_ points: [FigureAnswer.Point]) -> (value: Int64, denominator: Int64) {
        points.reduce((0, 0)) { ($0.0 &+ $1.value, $0.1 &+ ($1.denominator ?? 0)) }
    }
}
