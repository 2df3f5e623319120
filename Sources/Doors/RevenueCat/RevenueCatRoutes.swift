import HTTPSupport
import Hummingbird

/// The routes of the protocol.
struct RevenueCatRoutes: RouteSource {
    let services: DoorServices

    func add(to router: Router<ServiceContext>) {}
}
