import Features
import HTTPSupport
import Hummingbird
import Logging
import Proofs
import ServiceLifecycle
import Synchronization

/// Routes for the sales figures, by day, week or month.
struct FigureRoutes: OperationGroup {
    static let tag = OperationTag(
        "Figures", "Revenue, subscriptions and customers over time.",
        [.listFigures, .getFigure])
    static let optional = [OptionalOperations(option: "--figures", operations: operations)]
    let parts: ServiceParts
    private let figures: FigureService

    init?(parts: ServiceParts) {
        guard let figures = parts.till.figures else { return nil }
        (self.parts, self.figures) = (parts, figures)
    }

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listFigures) { _, _ in try ListedFigure.list.answer() }
        group.on(.getFigure) { request, context in
            let query = try query(
                of: request, try context.parameters.text("figure"), app: try RequestedApps.name(of: request, context))
            return try await figures.answer(query).answer()
        }
    }

    private func query(of request: Request, _ name: String, app: String?) throws -> FigureQuery {
        guard let figure = Figure(rawValue: name) else { throw FigureError.unknown(name) }
        let last = try request.queriedDay("to") ?? figures.today
        let first = try request.queriedDay("from") ?? last.adding(days: 1 - FigureQuery.standardDays)
        return try FigureQuery(
            figure, in: try request.query("environment") ?? .production, by: try request.query("by") ?? .day,
            from: first, to: last, group: try request.query("group"), app: app,
            product: try request.query("product"), storefront: try request.query("storefront"),
            store: try request.query("store"))
    }
}

package struct ListedFigure: AnswerObject, Listed {
    package static let listName = "figures"
    package static let answerFields = AnswerFields<Self>("A figure of the service.", named: "FigureDescription") {
        $0.field("figure", \.figure)
        $0.field(
            "kind",
            .one(
                of: ["sum", "level", "rate", "movement", "average", "cohort"],
                "`sum`: the sum over the days of a period; `level`: the value at the end of a period; `rate`: a sum divided by another; `movement`: a sum with its parts; `average`: a sum of money divided by a number of users; `cohort`: the users of each month, and those who stayed."
            ), \.figure.kind)
        $0.field("isMoney", "True if the values are milliunits of a currency.", \.figure.isMoney)
        $0.field("definition", \.figure.definition)
    }

    package static var list: List<ListedFigure> { List(Figure.allCases.map { ListedFigure(figure: $0) }) }

    let figure: Figure
}

extension Figure: AnswerValue {}
extension FigureQuery.Environment: AnswerValue {}
extension FigureQuery.Group: AnswerValue {}
extension FigureInterval: AnswerValue {}

extension FigureAnswer: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "The values of a figure over time.", named: "FigureAnswer"
    ) {
        $0.field("figure", \.query.figure)
        $0.field("environment", \.query.environment)
        $0.field("by", \.query.interval)
        $0.field("group", \.query.group)
        $0.field("periods", \.periods)
        $0.field("series", \.series)
        $0.field(
            "pendingUsers",
            .integer("The number of users with writes that the sums do not include yet.", in: 0...10000),
            \.pendingUsers)
        $0.field(
            "isBackfilled",
            "True if the sums include all users from before figures were turned on, or `pendingUsers` counts them.",
            \.isBackfilled)
    }
}

extension FigureAnswer.Period: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A period of a figure.", named: "FigurePeriod") {
        $0.field("from", .day("The first day, in UTC."), \.first.description)
        $0.field("to", .day("The last day, in UTC."), \.last.description)
        $0.field("isComplete", "True if the last day is over.", \.isComplete)
    }
}

extension FigureAnswer.Series: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "The values of a figure, one for each period.", named: "FigureSeries"
    ) {
        $0.field(
            "group",
            "The app, product, storefront, store or origin. Empty if the App Store has not stated the storefront. For a cohort, the number of months after the first payment.",
            \.group)
        $0.field("currency", "The ISO 4217 code, for a figure of money.", \.currency)
        $0.field(
            "values",
            "Counts, or milliunits of the currency. For a rate or an average, the numerators; for a cohort, those who stayed."
        ) {
            $0.points.map(\.value)
        }
        $0.field("denominators", "The denominators of a rate or an average; the sizes of the cohorts.") {
            $0.points.compactMap(\.denominator).nonEmpty
        }
        $0.field("parts", "The parts of a movement: `new`, `resubscribed`, `changed` and `churned`.") { series in
            Dictionary(grouping: series.points.flatMap(\.parts), by: \.name).mapValues { $0.map(\.value) }.nonEmpty
        }
    }
}

extension FigureService {
    /// The interval of the search for unmarked users. A process without figures writes without marking.
    private static let sweepInterval = Duration.seconds(60 * 60)

    /// The task that adds new writes of users to the sums, within a few seconds.
    ///
    /// Several services on one ledger may run this. Each write is added once.
    package func upkeep(logger: Logger) -> Companion {
        let work = RepeatedWork(
            "figures not updated", Rhythm(every: .seconds(1), idle: .seconds(5)), awaiting: ledger, logger: logger)
        return work.companion(from: ContinuousClock.now) { nextSweep in
            var failure: (any Error)?
            if ContinuousClock.now >= nextSweep {
                // A failed sweep does not stop the roll-up.
                do {
                    try await sweep()
                    nextSweep = .now + Self.sweepInterval
                } catch {
                    failure = error
                }
            }
            let found = try await rollUp(logger)
            if let failure { throw failure }
            return found
        }
    }

    /// - Returns: True if there were new writes.
    private func rollUp(_ logger: Logger) async throws -> Bool {
        let batches = Atomic(0)
        // Purchases go first between two batches.
        let damaged = try await rollUp {
            batches.add(1, ordering: .relaxed)
            await Task.yield()
            return !Task.isShuttingDownGracefully && !Task.isCancelled
        }
        if damaged > 0 {
            logger.error(
                "figures of users were damaged: compute all anew with till figures --rebuild",
                metadata: ["users": "\(damaged)"])
        }
        return batches.load(ordering: .relaxed) > 0
    }
}

extension APIOperation {
    static let listFigures = APIOperation(
        .get, "/v1/figures", for: .backEnd(.figures), isPerApp: true,
        "listFigures", "Lists the figures and their definitions",
        answers: [.list("The figures of the service.", of: ListedFigure.self)])

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
                "by", "The length of the periods. A week begins on Monday. `arppu` and `retention` always have months.",
                .one(of: FigureInterval.self, default: .day)),
            .query(
                "group",
                "The dimension of the series. A figure of money also has one series for each currency. `retention` has none, and `arppu` and `lifetime-value` have no product.",
                .one(of: FigureQuery.Group.self)),
            .environment,
            .query("app", "Only sales of one app, by its bundle identifier."),
            .query("product", "Only sales of one product. Cannot be combined with a storefront."),
            .query(
                "storefront",
                "Only sales of one storefront (ISO 3166-1, three letters). Cannot be combined with a product."),
            .query("store", "Only sales of one store, local ones included.", .one(of: PurchaseStore.self)),
        ],
        answers: [.json("The figure.", FigureAnswer.self)])
}
