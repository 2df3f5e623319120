import Features
import HTTPSupport
import HTTPTypes
import Hummingbird

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
            FigureListPage(environment: try FigureSelection.word("environment", of: request) ?? .production).page
        }
        pages.get("figures/:figure") { request, context in
            let (figure, selection) = try Self.selection(request, context, figures)
            let answer = try await figures.answer(try selection.query(figure))
            guard answer.periods.count <= FigureSelection.maximumPeriods else { throw FigureError.tooManyPoints }
            return FigurePage(answer: answer, selection: selection, apps: apps, today: figures.today).page
        }
        pages.answer("figures/:figure/csv") { request, context in
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
}
