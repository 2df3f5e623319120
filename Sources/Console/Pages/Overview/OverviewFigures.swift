import Features
import Proofs

/// The figures of the overview, in one environment: 28 days by day.
struct OverviewFigures: Sendable {
    /// The figures of the cards, in order.
    static let all: [Figure] = [
        .revenue, .monthlyRevenue, .activeSubscriptions, .activeTrials, .newCustomers, .refundRate,
    ]

    let answers: [FigureAnswer]

    /// - Parameter app: Nil for all apps.
    init(_ figures: FigureService, _ environment: FigureQuery.Environment, app: String?) async throws {
        let today = figures.today
        let first = today.adding(days: 1 - FigureQuery.standardDays)
        let queries = try Self.all.map { try FigureQuery($0, in: environment, from: first, to: today, app: app) }
        answers = try await withThrowingTaskGroup(of: (Int, FigureAnswer).self) { group in
            for (place, query) in queries.enumerated() {
                group.addTask { (place, try await figures.answer(query)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
