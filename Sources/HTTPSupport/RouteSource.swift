import Hummingbird

/// The routes of an additional part of the service.
package protocol RouteSource: Sendable {
    func add(to router: Router<ServiceContext>)

    /// Adds middleware around all routes, which receives the problems of limits and of other middleware, too.
    func addMiddleware(to router: Router<ServiceContext>)
}

extension RouteSource {
    package func addMiddleware(to router: Router<ServiceContext>) {}
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
        add(middleware: RequestMiddleware(metrics: metrics))
        for other in others { other.addMiddleware(to: self) }
        add(middleware: AdmissionMiddleware(sharedLimits: sharedLimits))
        add(middleware: ProblemMiddleware())
        add(middleware: MethodMiddleware(routes))
    }
}
