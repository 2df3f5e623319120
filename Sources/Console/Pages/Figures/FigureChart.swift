import Features
import Proofs

/// The chart of a figure in one currency, or of a figure that is not money.
struct FigureChart {
    /// The number of groups with a series of their own if there are too many. The other groups are one series.
    private static let maximumGroups = Chart.maximumSeries - 1

    /// Nil for a figure that is not money.
    let currency: String?
    let chart: Chart
    /// The number of groups that share one series.
    let otherCount: Int

    init(_ answer: FigureAnswer, in currency: String?) {
        let (query, figure) = (answer.query, answer.query.figure)
        func point(_ value: Int64, _ denominator: Int64?) -> Chart.Point { Self.point(value, denominator, currency) }
        // The largest groups come first.
        let groups = answer.series.filter { $0.currency == currency }.sorted { Self.weight($0) > Self.weight($1) }
        let others = groups.dropFirst(groups.count > Chart.maximumSeries ? Self.maximumGroups : groups.count)
        var series: [Chart.Series] = groups.dropLast(others.count).map { group in
            let name = group.group.flatMap { $0.isEmpty ? nil : Phrase(same: $0) } ?? "not stated"
            return (query.group == nil ? figure.title : name, group.points.map { point($0.value, $0.denominator) })
        }
        if query.group == nil, let points = groups.first?.points, let parts = points.first?.parts, !parts.isEmpty {
            // A movement has a series for each of its parts.
            series = parts.indices.map { place in
                (Self.title(ofPart: parts[place].name), points.map { point($0.parts[place].value, nil) })
            }
        } else if !others.isEmpty {
            let points = answer.periods.indices.map { index in
                let (value, denominator) = FigureText.total(others.map { $0.points[index] })
                return point(value, figure.isRate ? denominator : nil)
            }
            series.append(("\(others.count) others", points))
        }
        self.currency = currency
        otherCount = others.count
        chart = Chart(
            currency.map { "\(figure.title), \($0)" } ?? figure.title, figure.chartKind,
            unit: figure.isRate ? .percent : figure.isMoney ? .money : .count,
            periods: answer.periods.map { $0.shown(by: query.interval) }, series: series)
    }

    private static func weight(_ series: FigureAnswer.Series) -> Double {
        series.points.reduce(0) { $0 + Double($1.denominator?.magnitude ?? $1.value.magnitude) }
    }

    private static func point(_ value: Int64, _ denominator: Int64?, _ currency: String?) -> Chart.Point {
        if let denominator {
            guard let percent = FigureText.percent(value, of: denominator) else { return (nil, Phrase(same: "–")) }
            let (part, whole) = (Shown.digits(value), Shown.digits(denominator))
            return (FigureText.percentage(value, of: denominator), "\(percent) (\(part) of \(whole))")
        }
        let text = currency.map { Price(milliunits: value, currency: $0).phrase }
        return (Double(value), text ?? Phrase(same: Shown.digits(value)))
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

extension FigureAnswer {
    /// The currencies with a chart each; nil for a figure that is not money.
    var currencies: [String?] { Set(series.map(\.currency)).sorted { $0 ?? "" < $1 ?? "" } }
}

extension FigureAnswer.Period {
    fileprivate func shown(by interval: FigureInterval) -> Chart.Period {
        let (first, last) = (first.description, last.description)
        let parts = first.split(separator: "-").compactMap { Int($0) }
        let (year, month, day) = parts.count == 3 ? (parts[0], parts[1], parts[2]) : (0, 1, 1)
        let months = CustomerWords.months
        let name = months.indices.contains(month - 1) ? months[month - 1].prefix(3) : ""
        guard interval != .month else {
            return (Phrase("\(name) \(year)\(korean: month)", context: "month"), String(first.prefix(7)), isComplete)
        }
        let label = Phrase("\(name) \(day)\(korean: month)", context: "day")
        return (label, interval == .day ? first : "\(first) – \(last)", isComplete)
    }
}

/// The values of figures as people read them.
package enum FigureText {
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

extension Figure {
    var title: Phrase {
        switch self {
        case .units: "Units"
        case .transactions: "Transactions"
        case .withoutPrice: "Transactions without a price"
        case .revenue: "Revenue"
        case .refunds: "Refunds"
        case .refundedRevenue: "Refunded revenue"
        case .refundRate: "Refund rate"
        case .newCustomers: "New customers"
        case .activeSubscriptions: "Active subscriptions"
        case .subscriptionMovement: "Movement of subscriptions"
        case .renewals: "Renewals"
        case .churn: "Churn"
        case .activeTrials: "Active trials"
        case .newTrials: "New trials"
        case .conversions: "Conversions of trials"
        case .trialConversion: "Conversion rate of trials"
        case .monthlyRevenue: "Monthly recurring revenue (MRR)"
        case .monthlyRevenueMovement: "Movement of the MRR"
        }
    }

    var explanation: Phrase { Phrase(stated: definition) }

    /// The kind of chart that fits the figure.
    var chartKind: Chart.Kind {
        switch kind {
        case "level": .areas
        case "rate": .lines
        default: .bars
        }
    }

    /// True if the values are divided by denominators.
    var isRate: Bool { kind == "rate" }
}

extension FigureQuery.Environment {
    var title: Phrase {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox and tests"
        }
    }
}
