import Hummingbird

/// Reads a plus sign in a query as a space, as forms encode it (URL Standard section 5.1). Links encode both.
struct FormQueryMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].contains("+") else { return try await next(request, context) }
        var head = request.head
        head.path = parts[0] + "?" + parts[1].replacing("+", with: "%20")
        return try await next(Request(head: head, body: request.body), context)
    }
}
