import Features
import HTTPSupport
import Hummingbird
import Proofs

extension FigureRoutes {
    private static let maximumCharts = 8
    /// The largest number of values in the charts of a page with several charts.
    private static let maximumPoints = 4_000

    /// The page of a figure: its definition, the selection of sales, a chart and a table for each currency, and notes.
    static func page(
        of answer: FigureAnswer, _ selection: FigureSelection, apps: [String], today: CalendarDay
    ) -> Page {
        let figure = answer.query.figure
        return Page(figure.title, section: .overview) {
            p { figure.explanation }
            periods(of: figure, selection, today)
            filters(of: figure, selection, apps)
            answer.notes
            let charts = FigureChart.charts(of: answer)
            let shown = shown(of: charts, figure.isMoney ? selection.currency : nil)
            if shown.count < charts.count { currencies(of: charts, figure, selection) }
            if shown.isEmpty {
                p(.class("empty")) {
                    if let currency = selection.currency, !charts.isEmpty {
                        "Nothing was sold in \(currency) in this time."
                    } else {
                        "Nothing was sold in this time."
                    }
                }
            }
            for (number, figureChart) in shown.enumerated() {
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
                a(.class("button"), .href(selection.with(currency: nil).path(figure, "csv"))) { "Download as CSV" }
                a(
                    .class("button"),
                    .href(ConsolePath("figures", query: ["environment": selection.environment.rawValue]))
                ) { "All figures" }
            }
        }
    }

    /// The charts of the page: that of the selected currency, or the first ones.
    private static func shown(of charts: [FigureChart], _ currency: String?) -> [FigureChart] {
        if let currency { return charts.filter { $0.currency == currency } }
        var points = 0
        return charts.prefix(Self.maximumCharts).enumerated().prefix { number, chart in
            points += chart.pointCount
            return number == 0 || points <= Self.maximumPoints
        }.map(\.element)
    }

    /// Links to the currencies, of which the page does not show all.
    private static func currencies(
        of charts: [FigureChart], _ figure: Figure, _ selection: FigureSelection
    ) -> HTML {
        Tabs.list("Currency") {
            for currency in [nil] + charts.compactMap(\.currency) {
                Tabs.link(
                    currency.map { Phrase(same: $0) } ?? "The first charts",
                    to: selection.with(currency: currency).path(figure), isPresent: currency == selection.currency)
            }
        }
    }

    /// Links to usual times.
    private static func periods(of figure: Figure, _ selection: FigureSelection, _ today: CalendarDay) -> HTML {
        let choices: [(title: Phrase, days: Int64, interval: FigureInterval)] = [
            ("28 days", 28, .day), ("90 days", 90, .day),
            ("12 months", 365, .month), ("3 years", 1095, .month),
        ]
        return Tabs.list(Phrase("Time", context: "range")) {
            for choice in choices {
                let path = selection.with(choice.days, until: today, by: choice.interval).path(figure)
                Tabs.link(choice.title, to: path, isPresent: path == selection.path(figure))
            }
        }
    }

    private static func filters(of figure: Figure, _ selection: FigureSelection, _ apps: [String]) -> HTML {
        details(.class("action")) {
            summary { "Choose time, groups and filters" }
            form(.method("get"), .action(ConsolePath("figures", figure.rawValue))) {
                div(.class("columns")) {
                    Field.date("from", "First day", value: selection.first.description)
                    Field.date("to", "Last day", value: selection.last.description)
                    Field.choice(
                        "by", "Periods",
                        FigureInterval.allCases.map { ($0.rawValue, $0.title) }, chosen: selection.interval.rawValue)
                    Field.choice(
                        "environment", "Environment",
                        FigureQuery.Environment.allCases.map { ($0.rawValue, $0.title) },
                        chosen: selection.environment.rawValue)
                    Field.choice(
                        "group", "A series for each", empty: "(no groups)",
                        FigureQuery.Group.allCases.map { ($0.rawValue, $0.title) }, chosen: selection.group?.rawValue)
                    Field.app(apps, empty: "(all apps)", chosen: selection.app)
                    Field.text("product", "Only this product", value: selection.product ?? "")
                    Field.text(
                        "storefront", "Only this storefront, such as KOR",
                        value: selection.storefront ?? "", maximumLength: 3)
                }
                if let currency = selection.currency {
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

/// The part of the sales that a page of a figure shows, as the parameters of its address.
struct FigureSelection {
    /// The largest number of periods of a chart and its table.
    static let maximumPeriods = 400

    var environment = FigureQuery.Environment.production
    var interval = FigureInterval.day
    var group: FigureQuery.Group?
    var first: CalendarDay
    var last: CalendarDay
    var app: String?
    var product: String?
    var storefront: String?
    /// The only currency with a chart; nil for all. The figures are the same.
    var currency: String?

    /// - Parameter today: The last day without a parameter.
    /// - Throws: `Problem`, `parameterInvalid`.
    init(_ request: Request, today: CalendarDay) throws(Problem) {
        environment = try Self.word("environment", of: request) ?? .production
        interval = try Self.word("by", of: request) ?? .day
        group = try Self.word("group", of: request)
        last = try Self.day("to", of: request) ?? today
        first = try Self.day("from", of: request) ?? last.adding(days: 1 - FigureQuery.standardDays)
        app = try Self.text("app", of: request)
        product = try Self.text("product", of: request)
        storefront = try Self.text("storefront", of: request)
        currency = try Self.text("currency", of: request)
        guard currency?.utf8.count ?? 3 == 3 else { throw .parameter("currency", "a code such as KRW") }
    }

    func with(currency: String?) -> FigureSelection {
        var chosen = self
        chosen.currency = currency
        return chosen
    }

    /// The selection of a number of days.
    func with(_ days: Int64, until today: CalendarDay, by interval: FigureInterval) -> FigureSelection {
        var chosen = self
        (chosen.last, chosen.first, chosen.interval) = (today, today.adding(days: 1 - days), interval)
        return chosen
    }

    /// - Throws: `FigureError`.
    func query(_ figure: Figure) throws(FigureError) -> FigureQuery {
        try FigureQuery(
            figure, in: environment, by: interval, from: first, to: last, group: group, app: app, product: product,
            storefront: storefront)
    }

    /// The path of a figure's page, or of a part below it, with this selection.
    func path(_ figure: Figure, _ parts: String...) -> ConsolePath {
        ConsolePath(
            ["figures", figure.rawValue] + parts,
            query: [
                ("environment", environment.rawValue), ("by", interval.rawValue), ("group", group?.rawValue),
                ("from", first.description), ("to", last.description), ("app", app), ("product", product),
                ("storefront", storefront), ("currency", currency),
            ])
    }

    /// A form sends empty parameters for what it leaves open.
    private static func text(_ name: String, of request: Request) throws(Problem) -> String? {
        let text = try request.query(name)
        return text?.isEmpty == true ? nil : text
    }

    private static func day(_ name: String, of request: Request) throws(Problem) -> CalendarDay? {
        guard let text = try text(name, of: request) else { return nil }
        guard let day = CalendarDay(text) else { throw .parameter(name, "a date such as 2026-10-31") }
        return day
    }

    static func word<Word: CaseIterable & RawRepresentable<String>>(
        _ name: String,
        of request: Request
    ) throws(Problem) -> Word? {
        guard let text = try text(name, of: request) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw .parameter(name, "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }
}
