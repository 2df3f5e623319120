import Features
import HTTPSupport
import Hummingbird
import Logging
import Proofs
import ServiceLifecycle

/// Routes for the sales figures, by day, week or month.
struct FigureRoutes: Sendable {
    let figures: FigureService

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listFigures) { _, _ in try JSONAnswer.response(FigureResource.list) }
        group.on(.getFigure) { request, context in
            let query = try query(
                of: request, try context.parameters.text("figure"), app: try RequestedApps.name(of: request, context))
            return try JSONAnswer.response(FigureAnswerResource(try await figures.answer(query)))
        }
    }

    private func query(of request: Request, _ name: String, app: String?) throws -> FigureQuery {
        guard let figure = Figure(rawValue: name) else { throw FigureError.unknown(name) }
        let last = try day("to", of: request) ?? figures.today
        let first = try day("from", of: request) ?? last.adding(days: 1 - FigureQuery.standardDays)
        return try FigureQuery(
            figure, in: try request.query("environment") ?? .production, by: try request.query("by") ?? .day,
            from: first, to: last, group: try request.query("group"), app: app,
            product: try request.query("product"), storefront: try request.query("storefront"))
    }

    private func day(_ name: String, of request: Request) throws -> CalendarDay? {
        try request.query(name).map { text in
            guard let day = CalendarDay(text) else { throw Problem.parameter(name, "a date such as 2026-10-31") }
            return day
        }
    }
}

/// A figure that the service computes.
package struct FigureResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "figures"
    package static let schema = Schema(of: Self.self, named: "Figure", "A figure of the service.").noting([
        "figure": .one(of: Figure.self),
        "kind": .one(
            of: ["sum", "level", "rate", "movement"],
            "`sum`: the sum over the days of a period; `level`: the value at the end of a period; `rate`: a sum divided by another; `movement`: a sum with its parts."
        ),
        "isMoney": "True if the values are milliunits of a currency.",
    ])

    package let figure: String
    package let kind: String
    package let isMoney: Bool
    package let definition: String
}

extension FigureResource {
    /// All figures.
    package static var list: List<FigureResource> {
        List(
            Figure.allCases.map { figure in
                FigureResource(
                    figure: figure.rawValue, kind: figure.kind, isMoney: figure.isMoney, definition: figure.definition)
            })
    }
}

/// The values of a figure over time.
package struct FigureAnswerResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, named: "FigureAnswer", "The values of a figure over time.")
        .noting([
            "figure": .one(of: Figure.self),
            "environment": .one(of: FigureQuery.Environment.self),
            "by": .one(of: FigureInterval.self),
            "group": .one(of: FigureQuery.Group.self),
            "pendingUsers": .integer(
                "The number of users with writes that the sums do not include yet.", in: 0...10000),
            "isBackfilled":
                "True if the sums include all users from before figures were turned on, or `pendingUsers` counts them.",
        ])

    /// A period of a figure.
    package struct Period: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self, named: "FigurePeriod", "A period of a figure.").noting([
            "from": .day("The first day, in UTC."),
            "to": .day("The last day, in UTC."),
            "isComplete": "True if the last day is over.",
        ])

        package let from: String
        package let to: String
        package let isComplete: Bool
    }

    /// The values of a figure, one for each period.
    package struct Series: Codable, SchemaSource, Sendable {
        package static let schema = Schema(
            of: Self.self, named: "FigureSeries", "The values of a figure, one for each period."
        ).noting([
            "group":
                "The app, product, storefront or origin. Empty if the App Store has not stated the storefront.",
            "currency": "The ISO 4217 code, for a figure of money.",
            "values": "Counts, or milliunits of the currency. For a rate, the numerators.",
            "denominators": "The denominators of a rate.",
            "parts": "The parts of a movement: `new`, `resubscribed`, `changed` and `churned`.",
        ])

        package let group: String?
        /// The ISO 4217 code. Nil if the figure is not money.
        package let currency: String?
        package let values: [Int64]
        package let denominators: [Int64]?
        package let parts: [String: [Int64]]?

        init(_ series: FigureAnswer.Series) {
            let denominators = series.points.compactMap(\.denominator)
            var parts: [String: [Int64]] = [:]
            for part in series.points.flatMap(\.parts) { parts[part.name, default: []].append(part.value) }
            group = series.group
            currency = series.currency
            values = series.points.map(\.value)
            self.denominators = denominators.isEmpty ? nil : denominators
            self.parts = parts.isEmpty ? nil : parts
        }
    }

    package let figure: String
    package let environment: String
    package let by: String
    /// `app`, `product`, `storefront` or `origin`. Nil without a group.
    package let group: String?
    package let periods: [Period]
    package let series: [Series]
    package let pendingUsers: Int
    package let isBackfilled: Bool

    package init(_ answer: FigureAnswer) {
        figure = answer.query.figure.rawValue
        environment = answer.query.environment.rawValue
        by = answer.query.interval.rawValue
        group = answer.query.group?.rawValue
        periods = answer.periods.map { period in
            Period(from: period.first.description, to: period.last.description, isComplete: period.isComplete)
        }
        series = answer.series.map { Series($0) }
        pendingUsers = answer.pendingUsers
        isBackfilled = answer.isBackfilled
    }
}

/// Adds new writes of users to the sums, within a few seconds.
///
/// Several services on one ledger may run this. Each write is added once.
package struct FigureUpkeep: Service {
    private static let interval = Duration.seconds(1)
    /// The interval of the search for unmarked users. A process without figures writes without marking.
    private static let sweepInterval = Duration.seconds(60 * 60)

    private let figures: FigureService
    private let logger: Logger

    package init(figures: FigureService, logger: Logger) {
        self.figures = figures
        self.logger = logger
    }

    /// Runs until the service stops.
    package func run() async throws {
        var nextSweep = ContinuousClock.now
        var failures = FailureLog(logger, "figures not updated")
        for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() {
            var code: String?
            do {
                if ContinuousClock.now >= nextSweep {
                    try await figures.sweep()
                    nextSweep = .now + Self.sweepInterval
                }
            } catch {
                code = Problem.code(of: error)
            }
            // A failed sweep does not stop the roll-up.
            do {
                // Purchases go first between two batches.
                let damaged = try await figures.rollUp {
                    await Task.yield()
                    return !Task.isShuttingDownGracefully && !Task.isCancelled
                }
                if damaged > 0 {
                    logger.error(
                        "figures of users were damaged: compute all anew with till figures --rebuild",
                        metadata: ["users": "\(damaged)"])
                }
            } catch {
                code = Problem.code(of: error)
            }
            failures.record(code)
        }
    }
}

extension APIOperation {
    static let figures = [listFigures, getFigure]

    static let listFigures = APIOperation(
        .get, "/v1/figures", for: .backEnd(.figures), isPerApp: true,
        "listFigures", "Lists the figures and their definitions",
        answers: [.list("The figures of the service.", of: FigureResource.self)])

    static let getFigure = APIOperation(
        .get, "/v1/figures/{figure}", for: .backEnd(.figures), isPerApp: true,
        "getFigure", "Returns a figure by day, week or month",
        parameters: [
            .path("figure", "The name of the figure.", .one(of: Figure.self)),
            .query(
                "from",
                "The first day, in UTC. The answer covers its whole period. The default is 28 days before the end.",
                .day()),
            .query(
                "to", "The last day, in UTC. The answer covers its whole period, up to today. The default is today.",
                .day()),
            .query(
                "by", "The length of the periods. A week begins on Monday.",
                .one(of: FigureInterval.self, default: .day)),
            .query(
                "group", "The dimension of the series. A figure of money also has one series for each currency.",
                .one(of: FigureQuery.Group.self)),
            .query(
                "environment", "The environment. The sandbox includes Xcode's purchases.",
                .one(of: FigureQuery.Environment.self, default: .production)),
            .query("app", "Only sales of one app, by its bundle identifier."),
            .query("product", "Only sales of one product. Cannot be combined with a storefront."),
            .query(
                "storefront",
                "Only sales of one storefront (ISO 3166-1, three letters). Cannot be combined with a product."),
        ],
        answers: [.json("The figure.", FigureAnswerResource.self)])
}
