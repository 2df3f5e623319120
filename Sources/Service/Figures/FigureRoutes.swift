import Features
import HTTPSupport
import Hummingbird
import Proofs

/// Routes for the sales figures, by day, week or month.
struct FigureRoutes: Sendable {
    let figures: FigureService

    /// - Parameter group: Routes under `/v1`.
    func add(to group: RouterGroup<ServiceContext>) {
        let group = group.for(.backEnd(.figures), isPerApp: true).group("figures")
        group.get { _, _ in try JSONAnswer.response(FigureList.all) }
        group.get(":figure") { request, context in
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
            figure, in: try word("environment", of: request) ?? .production,
            by: try word("by", of: request) ?? .day, from: first, to: last, group: try word("group", of: request),
            app: app, product: try request.query("product"),
            storefront: try request.query("storefront"))
    }

    private func day(_ name: String, of request: Request) throws -> CalendarDay? {
        try request.query(name).map { text in
            guard let day = CalendarDay(text) else { throw Problem.parameter(name, "a date such as 2026-10-31") }
            return day
        }
    }

    private func word<Word: CaseIterable & RawRepresentable<String>>(
        _ name: String,
        of request: Request
    ) throws -> Word? {
        try request.query(name).map { text in
            guard let word = Word(rawValue: text) else {
                let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem.parameter(name, "one of \(words)")
            }
            return word
        }
    }
}
