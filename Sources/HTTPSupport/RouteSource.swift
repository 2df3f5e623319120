import Hummingbird

/// Routes that are served beside those of the service.
public protocol RouteSource: Sendable {
    func add(to router: Router<ServiceContext>)
}
