import Features
import HTTPSupport
import Hummingbird
import Proofs

struct FigureRoutes: Sendable {
    let services: any ConsoleServices

    func add(to pages: ConsolePages) {
        guard let figures = services.figures else {
            pages.get("figures") { _, _ in FiguresOff.page }
            pages.get("figures/:figure") { _, _ in FiguresOff.page }
            return
        }
        let apps = services.entitlements.apps.all.map(\.bundleIdentifier)
        pages.get("figures") { request, _ in
            Self.list(in: try request.chosen("environment") ?? .production)
        }
        pages.get("figures/:figure") { request, context in
            let (query, currency) = try Self.query(request, context, today: figures.today)
            let answer = try await figures.answer(query)
            guard answer.periods.count <= Self.maximumPeriods else { throw FigureError.tooManyPoints }
            return Self.page(of: answer, currency, apps: apps, today: figures.today)
        }
        pages.get("figures/:figure/csv") { request, context in
            let (query, _) = try Self.query(request, context, today: figures.today)
            let answer = try await figures.answer(query)
            let name = "\(query.figure.rawValue)-\(query.first)-\(query.last).csv"
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/csv; charset=utf-8",
                    .contentDisposition: "attachment; filename=\"\(name)\"",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: answer.csv)))
        }
    }

    /// The query of an address, and the only currency with a chart; nil for all currencies.
    ///
    /// - Parameter today: The last day without a parameter.
    private static func query(
        _ request: Request, _ context: ConsoleContext, today: CalendarDay
    ) throws -> (FigureQuery, currency: String?) {
        func day(_ name: String) throws(Problem) -> CalendarDay? {
            try request.chosen(name).map { text throws(Problem) in
                guard let day = CalendarDay(text) else { throw .parameter(name, "a date such as 2026-10-31") }
                return day
            }
        }
        let name = try context.parameters.text("figure")
        guard let figure = Figure(rawValue: name) else { throw FigureError.unknown(name) }
        let environment: FigureQuery.Environment = try request.chosen("environment") ?? .production
        let interval: FigureInterval = try request.chosen("by") ?? .day
        let group: FigureQuery.Group? = try request.chosen("group")
        let last = try day("to") ?? today
        let first = try day("from") ?? last.adding(days: 1 - FigureQuery.standardDays)
        let (app, product) = (try request.chosen("app"), try request.chosen("product"))
        let (storefront, currency) = (try request.chosen("storefront"), try request.chosen("currency"))
        guard currency?.utf8.count ?? 3 == 3 else { throw Problem.parameter("currency", "a code such as KRW") }
        let query = try FigureQuery(
            figure, in: environment, by: interval, from: first, to: last, group: group, app: app, product: product,
            storefront: storefront)
        return (query, currency)
    }

    private static let groups: [(title: Phrase, figures: [Figure])] = [
        ("Sales", [.revenue, .units, .transactions, .withoutPrice, .newCustomers]),
        ("Refunds", [.refunds, .refundedRevenue, .refundRate]),
        (
            "Subscriptions",
            [.monthlyRevenue, .monthlyRevenueMovement, .activeSubscriptions, .subscriptionMovement, .renewals, .churn]
        ),
        ("Free trials", [.activeTrials, .newTrials, .conversions, .trialConversion]),
    ]

    /// The page of all figures with their definitions.
    private static func list(in environment: FigureQuery.Environment) -> Page {
        Page("Figures", section: .overview) {
            for group in groups {
                h2 { group.title }
                Facts.list(
                    group.figures.map { figure in
                        Fact(
                            name: a(.href(.figure(figure, in: environment))) { figure.title },
                            value: HTML { figure.explanation })
                    })
            }
        }
    }
}

extension ConsolePath {
    static func figures(in environment: FigureQuery.Environment) -> ConsolePath {
        ConsolePath("figures", query: ["environment": environment.rawValue])
    }

    /// The page of a figure of the latest days.
    static func figure(_ figure: Figure, in environment: FigureQuery.Environment, app: String? = nil) -> ConsolePath {
        ConsolePath("figures", figure.rawValue, query: ["environment": environment.rawValue, "app": app])
    }
}

extension FigureQuery {
    /// The path of the figure's page, or of a part below it, with the same sales.
    ///
    /// - Parameters:
    ///   - interval: Another length of the periods.
    ///   - first: Another first day.
    ///   - last: Another last day.
    ///   - currency: The only currency with a chart; nil for all.
    func path(
        _ parts: String..., by interval: FigureInterval? = nil, from first: CalendarDay? = nil,
        to last: CalendarDay? = nil, currency: String?
    ) -> ConsolePath {
        ConsolePath(
            ["figures", figure.rawValue] + parts,
            query: [
                ("environment", environment.rawValue), ("by", (interval ?? self.interval).rawValue),
                ("group", group?.rawValue), ("from", (first ?? self.first).description),
                ("to", (last ?? self.last).description), ("app", app), ("product", product),
                ("storefront", storefront), ("currency", currency),
            ])
    }
}

extension Request {
    /// The text of a parameter. Nil for an empty one, which a form sends for what it leaves open.
    func chosen(_ name: String) throws(Problem) -> String? {
        let text = try query(name)
        return text?.isEmpty == true ? nil : text
    }

    /// The word of a parameter; nil for an empty one.
    func chosen<Word: CaseIterable & RawRepresentable<String>>(_ name: String) throws(Problem) -> Word? {
        try chosen(name) == nil ? nil : try query(name)
    }
}

enum FiguresOff {
    static var page: Page { Page("Figures", section: .overview) { card } }

    static var card: HTML {
        div(.class("card")) {
            h2 { "Sales figures are off" }
            p { "Till can add up revenue, subscriptions and trials by day. Turn figures on and restart the service:" }
            pre { plain("till serve --figures") }
        }
    }
}

extension FigureRoutes {
    /// The largest number of periods of a chart and its table.
    static let maximumPeriods = 400
    private static let maximumCharts = 8
    /// The largest number of values in the charts of a page with several charts.
    private static let maximumPoints = 4_000

    /// The page of a figure: its definition, the selection of sales, a chart and a table for each currency, and notes.
    ///
    /// - Parameter currency: The only currency with a chart; nil for all. The figures are the same.
    static func page(of answer: FigureAnswer, _ currency: String?, apps: [String], today: CalendarDay) -> Page {
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
        var charts: [FigureChart] = []
        var points = 0
        for each in answer.currencies.filter({ currency == nil || $0 == currency }).prefix(maximumCharts) {
            let chart = FigureChart(answer, in: each)
            points += chart.chart.series.count * answer.periods.count
            guard charts.isEmpty || points <= maximumPoints else { break }
            charts.append(chart)
        }
        return charts
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
