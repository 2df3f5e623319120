import HTTPSupport
import Hummingbird

/// The routes of the protocol.
struct IAPKitRoutes: RouteSource {
    let services: DoorServices

    func add(to router: Router<ServiceContext>) {}
}
