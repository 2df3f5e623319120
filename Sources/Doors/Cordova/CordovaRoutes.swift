import HTTPSupport
import Hummingbird

/// The routes of the protocol.
struct CordovaRoutes: RouteSource {
    let services: DoorServices

    func add(to router: Router<ServiceContext>) {}
}
