import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The pages of the figures.
struct FigureRoutes: Sendable {
    let services: ConsoleServices

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
                dl(.class("facts")) {
                    for figure in group.figures {
                        div {
                            dt { a(.href(.figure(figure, in: environment))) { figure.title } }
                            dd { figure.explanation }
                        }
                    }
                }
            }
        }
    }
}

extension ConsolePath {
    /// The list of all figures.
    static func figures(in environment: FigureQuery.Environment) -> ConsolePath {
        ConsolePath("figures", query: ["environment": environment.rawValue])
    }

    /// The page of a figure of the latest days.
    static func figure(
        _ figure: Figure, in environment: FigureQuery.Environment, app: String? = nil
    ) -> ConsolePath {
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

/// The explanation for a service without figures.
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
