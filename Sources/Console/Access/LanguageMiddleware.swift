import HTTPSupport
import Hummingbird

/// Chooses the language of the pages: the one that the person chose, or the first that the browser prefers.
struct LanguageMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.language =
            ConsoleCookie.language(of: request)
            ?? Language.choose(for: request, among: ConsoleLanguage.allCases.map(\.rawValue))
            .flatMap { ConsoleLanguage(rawValue: $0) } ?? .english
        return try await next(request, context)
    }
}
