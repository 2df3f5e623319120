import Hummingbird

/// Lets a request through only with the API key in its `Authorization` header (RFC 6750).
struct APIKeyMiddleware<Context: RequestContext>: RouterMiddleware {
    let key: APIKey

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let scheme = "Bearer "
        guard let header = request.headers[.authorization], header.hasPrefix(scheme),
            key.matches(header.dropFirst(scheme.count))
        else {
            throw Problem(
                status: .unauthorized, code: "unauthenticated",
                detail: "Send the service's API key as a bearer token in the Authorization header.")
        }
        return try await next(request, context)
    }
}
