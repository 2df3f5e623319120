import HTTPSupport
import Hummingbird

/// Shows every error as a page, in the language of the browser.
struct ConsoleErrorMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let problem = ProblemMiddleware.problem(of: error, context.service)
            let sentence = ErrorSentences.phrase(of: error, as: problem)
            return ErrorPage(problem: problem, sentence: sentence, language: context.language).page
                .response(context, status: .init(code: problem.status))
        }
    }
}
