import HTTPTypes
import Hummingbird

/// Responds with 405 and the path's methods if a request has another method (RFC 9110 section 15.5.6). Hummingbird
/// alone would respond with 404.
struct MethodMiddleware: RouterMiddleware {
    /// The segments of each path, with its methods.
    private let paths: [(segments: [Substring], methods: [String])]

    init(_ routes: [Router<ServiceContext>.RouteDescription]) {
        paths = Dictionary(grouping: routes, by: \.path.description).map { path, routes in
            let methods = Set(routes.map(\.method.rawValue))
            return (
                path.split(separator: "/").map { Substring(String($0)) },
                methods.union(methods.contains("GET") ? ["HEAD"] : []).sorted()
            )
        }
    }

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            // Only Hummingbird throws this error. The routes throw problems.
            guard let methods = methods(of: request.uri.path) else { throw error }
            throw Problem.methodNotAllowed(allowed: methods)
        }
    }

    /// The methods of a path. Nil if the path is unknown.
    private func methods(of path: String) -> [String]? {
        let segments = path.split(separator: "/")
        return paths.first { known in
            known.segments.count == segments.count
                && zip(known.segments, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }?.methods
    }
}
