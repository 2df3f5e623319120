import HTTPTypes
import Hummingbird

/// Sends the header fields that keep other sites and injected text out of the console's pages.
struct SecurityHeadersMiddleware: RouterMiddleware {
    private static let fields: [(String, String)] = [
        (
            "Content-Security-Policy",
            "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        // With no-referrer, a browser would send forms with the origin "null".
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        for (name, value) in Self.fields {
            // A picture states a stricter policy itself.
            if let name = HTTPField.Name(name), response.headers[name] == nil { response.headers[name] = value }
        }
        // Assets say themselves how long they may be kept.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }
}
