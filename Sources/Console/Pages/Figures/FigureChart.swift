import Catalog
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

    /// - Parameter total: The currency of the chart, with the values of the time before.
    init(_ answer: FigureAnswer, of total: FigureComparison.Total, _ names: CatalogNames) {
        let (query, figure, currency) = (answer.query, answer.query.figure, total.currency)
        func chartPoint(_ point: FigureAnswer.Point?) -> Chart.Point {
            guard let point else { return (nil, Phrase(same: "–")) }
            return (figure.number(point), figure.text(point, currency))
        }
        func partPoint(_ part: FigureAnswer.Part) -> Chart.Point {
            chartPoint(FigureAnswer.Point(value: part.value))
        }
        // The largest groups come first.
        let groups = answer.series.filter { $0.currency == currency }.sorted { Self.weight($0) > Self.weight($1) }
        let others = groups.dropFirst(groups.count > Chart.maximumSeries ? Self.maximumGroups : groups.count)
        var series: [Chart.Series] = groups.dropLast(others.count).map { group in
            (group.group.map { names.title(of: $0, query.group) } ?? figure.title, group.points.map(chartPoint))
        }
        var lines: [Chart.Series] = []
        if query.group == nil, let points = groups.first?.points, let parts = points.first?.parts, !parts.isEmpty {
            // A movement has a series for each of its parts, and their sum.
            series = parts.indices.map { place in
                (Self.title(ofPart: parts[place].name), points.map { partPoint($0.parts[place]) })
            }
            lines = [("net", points.map { chartPoint(FigureAnswer.Point(value: $0.value)) })]
        } else if query.group == nil, total.earlier.contains(where: { $0 != nil }) {
            lines = [("Previous period", total.earlier.map(chartPoint))]
        } else if !others.isEmpty {
            let points = answer.periods.indices.map { index in
                chartPoint(FigureAnswer.Point.sum(of: others.map { $0.points[index] }))
            }
            series.append(("\(others.count) others", points))
        }
        self.currency = currency
        otherCount = others.count
        chart = Chart(
            currency.map { "\(figure.title), \($0)" } ?? figure.title, figure.chartKind,
            unit: figure.isRate ? .percent : figure.isMoney ? .money : .count,
            periods: answer.periods.map { $0.shown(by: query.interval) }, series: series, lines: lines)
    }

    private static func weight(_ series: FigureAnswer.Series) -> Double {
        series.points.reduce(0) { $0 + Double($1.denominator?.magnitude ?? $1.value.magnitude) }
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

extension FigureAnswer.Period {
    fileprivate func shown(by interval: FigureInterval) -> Chart.Period {
        let first = first.description
        let parts = first.split(separator: "-").compactMap { Int($0) }
        let (year, month, day) = parts.count == 3 ? (parts[0], parts[1], parts[2]) : (0, 1, 1)
        let months = CustomerWords.months
        let name = months.indices.contains(month - 1) ? months[month - 1].prefix(3) : ""
        guard interval != .month else {
            return (Phrase("\(name) \(year)\(korean: month)", context: "month"), String(first.prefix(7)), isComplete)
        }
        let label = Phrase("\(name) \(day)\(korean: month)", context: "day")
        return (label, FigureText.time(self.first...self.last), isComplete)
    }
}

/// The values of figures as people read them.
package enum FigureText {
    /// A share in percent with one decimal: `12.5%`. Nil for a share of nothing.
    package static func percent(_ numerator: Int64, of denominator: Int64) -> String? {
        percentage(numerator, of: denominator).map(percent)
    }

    /// A share in percent. Nil for a share of nothing.
    static func percentage(_ numerator: Int64, of denominator: Int64) -> Double? {
        guard denominator > 0 else { return nil }
        return Double(numerator) / Double(denominator) * 100
    }

    static func percent(_ percentage: Double) -> String {
        let tenths = Int64((min(max(percentage, -1e12), 1e12) * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)%"
    }

    /// The days of a time: "2026-10-03 – 2026-10-29".
    static func time(_ days: ClosedRange<CalendarDay>) -> String {
        let (first, last) = (days.lowerBound, days.upperBound)
        return first == last ? "\(last)" : "\(first) – \(last)"
    }
}

/// The part of each cohort that stayed, by the months after the first payment. The colours are stronger where more stayed.
struct RetentionTable {
    private static let shades = 5

    let answer: FigureAnswer

    var html: HTML {
        Listing.frame("Months after the first payment") {
            th(.scope("col")) { "First payment" }
            th(.scope("col"), .class("number")) { "Customers" }
            for series in answer.series { th(.scope("col"), .class("number")) { "+\(series.group ?? "")" } }
        } rows: {
            for (index, period) in answer.periods.enumerated() {
                let points = answer.series.map { $0.points[index] }
                tr {
                    th(.scope("row")) { period.shown(by: .month).label }
                    td(.class("number")) { Shown.number(points.first?.denominator ?? 0) }
                    for point in points { Self.cell(point) }
                }
            }
        }
    }

    private static func cell(_ point: FigureAnswer.Point) -> HTML {
        guard let size = point.denominator, let share = FigureText.percentage(point.value, of: size) else {
            return td(.class("number")) {}
        }
        let shade = min(Int(share / 100 * Double(shades)), shades)
        return td(.class("number stayed-\(shade)")) { plain(FigureText.percent(share)) }
    }
}

extension Figure {
    /// The number of a value in a chart. Nil for a share of nothing.
    fileprivate func number(_ point: FigureAnswer.Point) -> Double? {
        guard let denominator = point.denominator else { return Double(point.value) }
        return isMoney
            ? Self.average(point).map(Double.init) : FigureText.percentage(point.value, of: denominator)
    }

    /// An amount for each user, in milliunits. Nil without a user.
    private static func average(_ point: FigureAnswer.Point) -> Int64? {
        point.denominator.flatMap { $0 > 0 ? point.value / $0 : nil }
    }

    /// The exact text of a value.
    fileprivate func text(_ point: FigureAnswer.Point, _ currency: String?) -> Phrase {
        guard let denominator = point.denominator else {
            let money = currency.map { Price(milliunits: point.value, currency: $0).phrase }
            return money ?? Phrase(same: Shown.digits(point.value))
        }
        if let currency {
            guard let average = Self.average(point) else { return Phrase(same: "–") }
            return "\(Price(milliunits: average, currency: currency).phrase) (\(Shown.digits(denominator)) customers)"
        }
        guard let percent = FigureText.percent(point.value, of: denominator) else { return Phrase(same: "–") }
        let (part, whole) = (Shown.digits(point.value), Shown.digits(denominator))
        return "\(percent) (\(part) of \(whole))"
    }

    /// A total as a card shows it. Nil for a share of nothing.
    fileprivate func shortText(_ point: FigureAnswer.Point, _ currency: String?) -> Phrase? {
        if let denominator = point.denominator {
            if let currency {
                return Self.average(point).map { Price(milliunits: $0, currency: currency).sumPhrase }
            }
            return FigureText.percent(point.value, of: denominator).map { Phrase(same: $0) }
        }
        let money = currency.map { Price(milliunits: point.value, currency: $0).sumPhrase }
        return money ?? Phrase(same: Shown.digits(point.value))
    }
}

extension FigureComparison {
    /// The total of a currency, and its change against the time before.
    @HTMLBuilder func lead(_ total: Total) -> HTML {
        p(.class("figure")) {
            if let text = answer.query.figure.shortText(total.value, total.currency) { text } else { Shown.nothing }
        }
        if let change = total.change {
            let text = (change < 0 ? "" : "+") + FigureText.percent(change)
            p(.class("change")) {
                if answer.query.figure.isRate { "\(text) points" } else { plain(text) }
            }
        }
    }

    /// The sum of several currencies at the operator's rates, with the day of these. Nil for less, or without rates.
    func sum(at rates: ExchangeRates?) -> HTML? {
        guard let rates, answer.query.figure.isMoney, !answer.query.figure.isQuotient, totals.count > 1 else {
            return nil
        }
        let amounts = totals.map { total in
            rates.converted(Price(milliunits: total.value.value, currency: total.currency ?? ""))
        }
        let missing = zip(totals, amounts).compactMap { $1 == nil ? $0.currency : nil }.joined(separator: ", ")
        let sum = Price(
            milliunits: amounts.reduce(0) { $0 &+ ($1?.milliunits ?? 0) }, currency: rates.currency
        ).sumPhrase
        let day = rates.day
        return missing.isEmpty
            ? note("Together \(sum), at the rates of \(day)")
            : note("Together \(sum) without \(missing), at the rates of \(day)")
    }

    var hasChange: Bool { totals.contains { $0.change != nil } }

    /// The days of the figure, and those that the change compares.
    @HTMLBuilder var times: HTML {
        if let first = answer.periods.first, let last = answer.periods.last {
            let end = last.isComplete ? last.last : today
            let shown = FigureText.time(first.first...max(first.first, end))
            p(.class("note")) { spaced(by: " · ", plain(shown), last.isComplete ? nil : Phrase("Today is not over.")) }
        }
        if let compared, hasChange {
            note("\(FigureText.time(compared.now)) compared with \(FigureText.time(compared.before))")
        }
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
        case .annualRevenue: "Annual recurring revenue (ARR)"
        case .revenuePerPayer: "Average revenue per paying user"
        case .lifetimeValue: "Lifetime value to date"
        case .retention: "Retention by month of first payment"
        }
    }

    var explanation: Phrase { Phrase(stated: definition) }

    var chartKind: Chart.Kind {
        switch kind {
        case "level": .areas
        default: isQuotient ? .lines : .bars
        }
    }

    /// True if the values are shares.
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
