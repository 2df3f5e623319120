import HTTPSupport
import HTTPTypes
import Hummingbird

/// Accepts an app's public key in the query (`?apiKey=appl_…`), because `store.validator` can be an address alone.
///
/// Proxies log addresses. So a back end's key in the query is refused, whether it is valid or not.
struct CordovaKeyMiddleware: RouterMiddleware {
    /// The name of the query parameter.
    static let parameter = "apiKey"

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let key = try request.query(Self.parameter), !key.isEmpty else { return try await next(request, context) }
        guard APIKeys.isPublicKey(key) else {
            throw Problem(
                status: .forbidden, code: "publicKeyRequired",
                detail: "The query parameter \(Self.parameter) takes only the public key of an app. If this is the key "
                    + "of a back end, revoke it: addresses are logged. `till keys make --public` makes a public key.")
        }
        guard request.headers[.authorization] == nil else { return try await next(request, context) }
        var head = request.head
        head.headerFields[.authorization] = "Bearer \(key)"
        return try await next(Request(head: head, body: request.body), context)
    }
}
