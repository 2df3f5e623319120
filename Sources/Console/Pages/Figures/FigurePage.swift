import Features
import HTTPSupport
import Hummingbird
import Proofs

extension FigureRoutes {
    /// The largest number of periods of a chart and its table.
    static let maximumPeriods = 400
    private static let maximumCharts = 8
    /// The largest number of values in the charts of a page with several charts.
    private static let maximumPoints = 4_000

    /// The page of a figure: its definition, the selection of sales, a chart and a table for each currency, and notes.
    ///
    /// - Parameter currency: The only currency with a chart; nil for all. The figures are the same.
    static func page(
        of answer: FigureAnswer, _ currency: String?, apps: [String], today: CalendarDay
    ) -> Page {
        let (query, figure) = (answer.query, answer.query.figure)
        return Page(figure.title, section: .overview) {
            p { figure.explanation }
            periods(of: query, currency, today)
            filters(of: query, currency, apps)
            answer.notes
            let currencies = answer.currencies
            let charts = charts(of: answer, figure.isMoney ? currency : nil)
            if charts.count < currencies.count {
                // The page does not show all currencies.
                Tabs.list("Currency") {
                    for each in [nil] + currencies.compactMap(\.self) {
                        Tabs.link(
                            each.map { Phrase(same: $0) } ?? "The first charts", to: query.path(currency: each),
                            isPresent: each == currency)
                    }
                }
            }
            if charts.isEmpty {
                p(.class("empty")) {
                    if let currency, !currencies.isEmpty {
                        "Nothing was sold in \(currency) in this time."
                    } else {
                        "Nothing was sold in this time."
                    }
                }
            }
            for (number, figureChart) in charts.enumerated() {
                let chart = figureChart.chart
                section(.class("card")) {
                    if let currency = figureChart.currency { h2 { Phrase(same: currency) } }
                    chart.html(identifier: "chart-\(number)")
                    if figureChart.otherCount > 0 {
                        note("The largest groups have their own colours. The CSV file has all groups.")
                    }
                }
                chart.table
            }
            p(.class("actions")) {
                a(.class("button"), .href(query.path("csv", currency: nil))) { "Download as CSV" }
                a(.class("button"), .href(.figures(in: query.environment))) { "All figures" }
            }
        }
    }

    /// The charts of the page: that of the selected currency, or the first ones.
    private static func charts(of answer: FigureAnswer, _ currency: String?) -> [FigureChart] {
        let shown = answer.currencies.filter { currency == nil || $0 == currency }
        var points = 0
        return shown.prefix(maximumCharts).enumerated().lazy.map { ($0, FigureChart(answer, in: $1)) }.prefix {
            number, chart in
            points += chart.chart.series.count * answer.periods.count
            return number == 0 || points <= maximumPoints
        }.map(\.1)
    }

    /// Links to usual times.
    private static func periods(of query: FigureQuery, _ currency: String?, _ today: CalendarDay) -> HTML {
        let choices: [(title: Phrase, days: Int64, interval: FigureInterval)] = [
            ("28 days", 28, .day), ("90 days", 90, .day),
            ("12 months", 365, .month), ("3 years", 1095, .month),
        ]
        return Tabs.list(Phrase("Time", context: "range")) {
            for choice in choices {
                let path = query.path(
                    by: choice.interval, from: today.adding(days: 1 - choice.days), to: today, currency: currency)
                Tabs.link(choice.title, to: path, isPresent: path == query.path(currency: currency))
            }
        }
    }

    private static func filters(of query: FigureQuery, _ currency: String?, _ apps: [String]) -> HTML {
        details(.class("action")) {
            summary { "Choose time, groups and filters" }
            form(.method("get"), .action(ConsolePath("figures", query.figure.rawValue))) {
                div(.class("columns")) {
                    Field.date("from", "First day", value: query.first.description)
                    Field.date("to", "Last day", value: query.last.description)
                    Field.choice(
                        "by", "Periods",
                        FigureInterval.allCases.map { ($0.rawValue, Phrase(titled: $0)) },
                        chosen: query.interval.rawValue)
                    Field.choice(
                        "environment", "Environment",
                        FigureQuery.Environment.allCases.map { ($0.rawValue, $0.title) },
                        chosen: query.environment.rawValue)
                    Field.choice(
                        "group", "A series for each", empty: "(no groups)",
                        FigureQuery.Group.allCases.map { ($0.rawValue, Phrase(titled: $0)) },
                        chosen: query.group?.rawValue)
                    Field.app(apps, empty: "(all apps)", chosen: query.app)
                    Field.text("product", "Only this product", value: query.product ?? "")
                    Field.text(
                        "storefront", "Only this storefront, such as KOR",
                        value: query.storefront ?? "", maximumLength: 3)
                }
                if let currency {
                    input(.type("hidden"), .name("currency"), .value(currency))
                }
                button(.class("primary")) { "Show" }
            }
        }
    }
}

extension FigureAnswer {
    /// The notes about sums that are not complete.
    @HTMLBuilder var notes: HTML {
        pendingNotes
        if periods.contains(where: { !$0.isComplete }) {
            note("Days are in UTC. The shaded period is not over.")
        }
    }

    /// The notes about sales that are still being added.
    @HTMLBuilder var pendingNotes: HTML {
        if !isBackfilled { note("Sales from before figures were turned on are still being added.") }
        if pendingUsers > 0 {
            let isMore = pendingUsers >= Self.maximumPending
            let number = Shown.digits(Int64(pendingUsers)) + (isMore ? "+" : "")
            p(.class("note")) { "New purchases of \(number) customer\(number == "1" ? "" : "s") are not included yet." }
        }
    }
}
