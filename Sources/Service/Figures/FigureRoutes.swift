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
package struct FigureResource: Codable, Listed, Sendable {
    package static let listName = "figures"

    package let figure: String
    /// `sum`, `level`, `rate` or `movement`.
    package let kind: String
    /// True if the values are milliunits of a currency.
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
package struct FigureAnswerResource: Codable, Sendable {
    /// A period of a figure.
    package struct Period: Codable, Sendable {
        /// The first day in UTC, such as `2026-10-31`.
        package let from: String
        /// The last day in UTC.
        package let to: String
        /// True if the last day has ended.
        package let isComplete: Bool
    }

    /// The values of a figure, one for each period.
    package struct Series: Codable, Sendable {
        /// The app, product, storefront or origin. Nil without a group. Empty if the storefront is unknown.
        package let group: String?
        /// The ISO 4217 code. Nil if the figure is not money.
        package let currency: String?
        /// The values: counts, or milliunits of the currency. For a rate, the numerators.
        package let values: [Int64]
        /// The denominators of a rate.
        package let denominators: [Int64]?
        /// The parts of a movement: `new`, `resubscribed`, `changed` and `churned`.
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
    /// `production` or `sandbox`.
    package let environment: String
    /// `day`, `week` or `month`.
    package let by: String
    /// `app`, `product`, `storefront` or `origin`. Nil without a group.
    package let group: String?
    package let periods: [Period]
    package let series: [Series]
    /// The number of users with changes that the sums do not include yet.
    package let pendingUsers: Int
    /// True if the sums include all earlier users or count them as pending.
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
