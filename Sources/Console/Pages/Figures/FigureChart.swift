import Features

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
        return Phrase("\(figure.title.english), \(currency)", "\(figure.title.korean), \(currency)")
    }

    private var chartSeries: [ChartSeries] {
        // A movement has a series for each of its parts.
        if answer.query.group == nil, let series = groups.first, let parts = series.points.first?.parts,
            !parts.isEmpty
        {
            return parts.indices.map { place in
                ChartSeries(
                    Self.title(ofPart: parts[place].name),
                    series.points.map { point($0.parts[place].value, nil) })
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
            Phrase("\(groups.count) others", "기타 \(groups.count)개"),
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
            return .init(
                FigureText.percentage(value, of: denominator),
                Phrase("\(percent) (\(part) of \(whole))", "\(percent) (\(whole) 중 \(part))"))
        }
        if let currency { return .init(Double(value), Phrase(same: FigureText.money(value, currency))) }
        return .init(Double(value), Phrase(same: Shown.digits(value)))
    }

    private func title(ofGroup group: String) -> Phrase {
        guard group.isEmpty else { return Phrase(same: group) }
        return Phrase("not stated", "알 수 없음")
    }

    private static func title(ofPart part: String) -> Phrase {
        switch part {
        case "new": Phrase("new", "신규")
        case "resubscribed": Phrase("resubscribed", "재구독")
        case "changed": Phrase("changed", "변경")
        case "churned": Phrase("churned", "이탈")
        default: Phrase(same: part)
        }
    }
}

extension ChartPeriod {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    fileprivate init(_ period: FigureAnswer.Period, by interval: FigureInterval) {
        let (first, last) = (period.first.description, period.last.description)
        let parts = first.split(separator: "-").compactMap { Int($0) }
        let (year, month, day) = parts.count == 3 ? (parts[0], parts[1], parts[2]) : (0, 1, 1)
        let name = Self.months.indices.contains(month - 1) ? Self.months[month - 1] : ""
        switch interval {
        case .day, .week:
            self.init(
                label: Phrase("\(name) \(day)", "\(month). \(day)."),
                name: interval == .day ? first : "\(first) – \(last)", isComplete: period.isComplete)
        case .month:
            self.init(
                label: Phrase("\(name) \(year)", "\(year). \(month)."), name: String(first.prefix(7)),
                isComplete: period.isComplete)
        }
    }
}
