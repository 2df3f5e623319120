import Hummingbird

/// The routes of an additional part of the service.
public protocol RouteSource: Sendable {
    func add(to router: Router<ServiceContext>)
}
