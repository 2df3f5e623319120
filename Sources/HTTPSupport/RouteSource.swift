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
