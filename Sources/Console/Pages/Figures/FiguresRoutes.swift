import Features
import HTTPSupport
import Hummingbird
import Proofs

struct FiguresRoutes: Sendable {
    let services: any ConsoleServices

    func add(to pages: ConsolePages) {
        guard let figures = services.figures else {
            pages.get("figures") { _, _ in FiguresOff.page }
            pages.get("figures/:figure") { _, _ in FiguresOff.page }
            return
        }
        pages.get("figures") { request, _ in
            Self.list(in: try request.chosen("environment") ?? services.standardEnvironment)
        }
        pages.get("figures/:figure") { request, context -> Response in
            let figure = try Self.figure(context)
            let form = try FigureForm(request, names: services.names)
            do {
                let query = try form.query(of: figure, in: services.standardEnvironment, today: figures.today)
                let comparison = try await figures.comparison(query)
                guard comparison.answer.periods.count <= Self.maximumPeriods else { throw FigureError.tooManyPoints }
                return Self.page(of: comparison, form).response(context)
            } catch {
                // The problem stands above the form, which keeps what was entered.
                let problem = ProblemMiddleware.problem(of: error, context.service)
                guard problem.status == 400 else { throw error }
                let page = Page(figure.title, section: .figures) {
                    Page.box(problem, ErrorSentences.phrase(of: error, as: problem), in: context.language)
                    form.html(of: figure, nil, in: services.standardEnvironment)
                }
                return page.response(context, status: .badRequest)
            }
        }
        pages.get("figures/:figure/csv") { request, context in
            let form = try FigureForm(request, names: services.names)
            let query = try form.query(
                of: try Self.figure(context), in: services.standardEnvironment, today: figures.today)
            let answer = try await figures.answer(query)
            let name = "\(query.figure.rawValue)-\(query.first)-\(query.last).csv"
            return Response.text(answer.csv, type: "text/csv", file: name)
        }
    }

    private static func figure(_ context: ConsoleContext) throws -> Figure {
        let name = try context.parameters.text("figure")
        guard let figure = Figure(rawValue: name) else { throw FigureError.unknown(name) }
        return figure
    }

    private static let groups: [(title: Phrase, figures: [Figure])] = [
        (
            "Sales",
            [.revenue, .revenuePerPayer, .lifetimeValue, .units, .transactions, .withoutPrice, .newCustomers]
        ),
        ("Refunds", [.refunds, .refundedRevenue, .refundRate]),
        (
            "Subscriptions",
            [
                .monthlyRevenue, .monthlyRevenueMovement, .annualRevenue, .activeSubscriptions, .subscriptionMovement,
                .renewals, .churn, .retention,
            ]
        ),
        ("Free trials", [.activeTrials, .newTrials, .conversions, .trialConversion]),
    ]

    private static func list(in environment: FigureQuery.Environment) -> Page {
        Page("Figures", section: .figures) {
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
    ///   - range: Another time.
    ///   - currency: The only currency with a chart; nil for all.
    func path(
        _ parts: String..., range: FigureRange? = nil, today: CalendarDay? = nil, currency: String?
    ) -> ConsolePath {
        let (first, last) = today.flatMap { today in range.map { ($0.first(today), today) } } ?? (first, last)
        return ConsolePath(
            ["figures", figure.rawValue] + parts,
            query: [
                ("environment", environment.rawValue), ("by", (range?.interval ?? interval).rawValue),
                ("group", group?.rawValue), ("from", first.description), ("to", last.description), ("app", app),
                ("product", product), ("storefront", storefront), ("store", store?.rawValue), ("currency", currency),
            ])
    }
}

enum FiguresOff {
    static var page: Page { Page("Figures", section: .figures) { card } }

    static var card: HTML {
        div(.class("card")) {
            h2 { "Sales figures are off" }
            p { "Till can add up revenue, subscriptions and trials by day. Turn figures on and restart the service:" }
            pre { plain("till serve --figures") }
        }
    }
}

extension FiguresRoutes {
    /// The largest number of periods of a chart and its table.
    static let maximumPeriods = 400
    private static let maximumCharts = 8
    /// The largest number of values in the charts of a page with several charts.
    private static let maximumPoints = 4_000

    /// The page of a figure: its definition, the selection of sales, a chart and a table for each currency, and notes.
    ///
    /// - Parameter form: The selection. Its currency is the only one with a chart; nil for all. The figures are the same.
    private static func page(of comparison: FigureComparison, _ form: FigureForm) -> Page {
        let (answer, currency) = (comparison.answer, form["currency"])
        let (query, figure) = (answer.query, answer.query.figure)
        return Page(figure.title, section: .figures) {
            p { figure.explanation }
            Tabs.list(Phrase("Time", context: "range")) {
                for range in FigureRange.allCases {
                    let path = query.path(range: range, today: comparison.today, currency: currency)
                    Tabs.link(range.title, to: path, isPresent: path == query.path(currency: currency))
                }
            }
            form.html(of: figure, query, in: query.environment)
            answer.notes
            if currency == nil { comparison.sum(at: form.names.catalogs.exchangeRates) }
            let sold = comparison.totals.filter { total in answer.series.contains { $0.currency == total.currency } }
            if figure == .retention, !answer.series.isEmpty { RetentionTable(answer: answer).html }
            let charts =
                figure == .retention
                ? [] : charts(of: answer, sold.filter { currency == nil || $0.currency == currency }, form.names)
            if figure != .retention, charts.count < sold.count {
                // The page does not show all currencies.
                Tabs.choices("Currency", [nil] + sold.compactMap(\.currency), present: currency) {
                    $0.map { Phrase(same: $0) } ?? "The first charts"
                } path: {
                    query.path(currency: $0)
                }
            }
            if charts.isEmpty, figure != .retention || answer.series.isEmpty {
                p(.class("empty")) {
                    if let currency, !sold.isEmpty {
                        "Nothing was sold in \(currency) in this time."
                    } else {
                        "Nothing was sold in this time."
                    }
                }
            }
            for (number, (figureChart, total)) in charts.enumerated() {
                let chart = figureChart.chart
                section(.class("card")) {
                    if let currency = figureChart.currency { h2 { Phrase(same: currency) } }
                    comparison.lead(total)
                    comparison.times
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

    /// The charts of the currencies; the first ones if there are many values.
    private static func charts(
        of answer: FigureAnswer, _ totals: [FigureComparison.Total], _ names: CatalogNames
    ) -> [(FigureChart, FigureComparison.Total)] {
        var charts: [(FigureChart, FigureComparison.Total)] = []
        var points = 0
        for total in totals.prefix(maximumCharts) {
            let chart = FigureChart(answer, of: total, names)
            points += chart.chart.series.count * answer.periods.count
            guard charts.isEmpty || points <= maximumPoints else { break }
            charts.append((chart, total))
        }
        return charts
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
            let number = Shown.digits(pendingUsers) + (isMore ? "+" : "")
            p(.class("note")) { "New purchases of \(number) customer\(number == "1" ? "" : "s") are not included yet." }
        }
    }
}
