import Features
import HTTPSupport
import HTTPTypes
import Hummingbird

/// The pages of the figures.
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
            Self.list(in: try FigureSelection.word("environment", of: request) ?? .production)
        }
        pages.get("figures/:figure") { request, context in
            let (figure, selection) = try Self.selection(request, context, figures)
            let answer = try await figures.answer(try selection.query(figure))
            guard answer.periods.count <= FigureSelection.maximumPeriods else { throw FigureError.tooManyPoints }
            return Self.page(of: answer, selection, apps: apps, today: figures.today)
        }
        pages.get("figures/:figure/csv") { request, context in
            let (figure, selection) = try Self.selection(request, context, figures)
            let answer = try await figures.answer(try selection.query(figure))
            let name = "\(figure.rawValue)-\(selection.first)-\(selection.last).csv"
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/csv; charset=utf-8",
                    .contentDisposition: "attachment; filename=\"\(name)\"",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: answer.csv)))
        }
    }

    private static func selection(
        _ request: Request,
        _ context: ConsoleContext,
        _ figures: FigureService
    ) throws -> (Figure, FigureSelection) {
        let name = try context.parameters.text("figure")
        guard let figure = Figure(rawValue: name) else { throw FigureError.unknown(name) }
        return (figure, try FigureSelection(request, today: figures.today))
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
                        let path = ConsolePath(
                            "figures", figure.rawValue, query: ["environment": environment.rawValue])
                        div {
                            dt { a(.href(path)) { figure.title } }
                            dd { figure.explanation }
                        }
                    }
                }
            }
        }
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
