import HTTPTypes
import Hummingbird

/// Tells which methods a path knows, where a request has another (RFC 9110 section 15.5.6); Hummingbird itself says that
/// there is no such path.
package struct MethodMiddleware: RouterMiddleware {
    /// Segments of a path, and the methods it knows.
    private let paths: [(segments: [Substring], methods: [String])]

    package init(_ routes: [Router<ServiceContext>.RouteDescription]) {
        paths = Dictionary(grouping: routes, by: \.path.description).map { path, routes in
            let methods = Set(routes.map(\.method.rawValue))
            return (
                path.split(separator: "/").map { Substring(String($0)) },
                methods.union(methods.contains("GET") ? ["HEAD"] : []).sorted()
            )
        }
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            // Thrown by Hummingbird alone: the routes throw problems.
            guard let methods = methods(of: request.uri.path) else { throw error }
            throw Problem.methodNotAllowed(allowed: methods)
        }
    }

    /// nil where there is no such path.
    private func methods(of path: String) -> [String]? {
        let segments = path.split(separator: "/")
        return paths.first { known in
            known.segments.count == segments.count
                && zip(known.segments, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }?.methods
    }
}
