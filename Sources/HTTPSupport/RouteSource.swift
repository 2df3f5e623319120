import Hummingbird

/// The routes of an additional part of the service.
package protocol RouteSource: Sendable {
    func add(to router: Router<ServiceContext>)

    /// The middleware around the requests of some paths. It receives the problems of limits and of other middleware, too.
    var pathMiddleware: [PathMiddleware.Entry] { get }
}

extension RouteSource {
    package var pathMiddleware: [PathMiddleware.Entry] { [] }
}

extension Router where Context == ServiceContext {
    /// Adds the middleware around all routes of a service or a store: metrics, limits, problem documents.
    ///
    /// - Parameters:
    ///   - others: The additional parts, whose middleware receives the problems of the rest.
    ///   - routes: The routes that the router will have.
    package func addMiddleware(
        counting metrics: ServiceMetrics,
        _ sharedLimits: SharedLimits,
        around others: [any RouteSource] = [],
        routes: [RouteDescription]
    ) {
        add(
            middleware: ServiceMiddleware(
                requests: RequestMiddleware(metrics: metrics), paths: PathMiddleware(others.flatMap(\.pathMiddleware)),
                admission: AdmissionMiddleware(sharedLimits: sharedLimits), problems: ProblemMiddleware(),
                methods: MethodMiddleware(routes)))
    }
}

/// The middleware around all routes, as one.
///
/// Every request passes it. Five that are added to a router one by one would call each other through existential types.
struct ServiceMiddleware: RouterMiddleware {
    let requests: RequestMiddleware
    let paths: PathMiddleware
    let admission: AdmissionMiddleware
    let problems: ProblemMiddleware
    let methods: MethodMiddleware

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        try await requests.handle(request, context: context) { request, context in
            try await paths.handle(request, context: context) { request, context in
                try await admission.handle(request, context: context) { request, context in
                    try await problems.handle(request, context: context) { request, context in
                        try await methods.handle(request, context: context, next: next)
                    }
                }
            }
        }
    }
}

/// The middleware of some paths alone.
package struct PathMiddleware: RouterMiddleware {
    package typealias Entry = PathTable<any RouterMiddleware<ServiceContext>>.Entry

    private let table: PathTable<any RouterMiddleware<ServiceContext>>

    init(_ entries: [Entry]) {
        table = PathTable(entries)
    }

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let middleware = table.value(of: request.method, at: request.uri.path) else {
            return try await next(request, context)
        }
        return try await middleware.handle(request, context: context, next: next)
    }
}
