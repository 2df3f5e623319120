import HTTPSupport
import Hummingbird

/// The routes of the open doors.
package struct DoorRoutes: RouteSource {
    private let routes: [any RouteSource]

    package init(_ doors: [Door], services: DoorServices) {
        let open: [any RouteSource] = doors.map { door in
            switch door {
            case .revenueCat: RevenueCatRoutes(services: services)
            case .cordova: CordovaRoutes(services: services)
            case .iapkit: IAPKitRoutes(services: services)
            }
        }
        routes = open + (doors.contains(.revenueCat) ? [] : [ClosedRevenueCatRoute()])
    }

    package func addMiddleware(to router: Router<ServiceContext>) {
        for route in routes { route.addMiddleware(to: router) }
    }

    package func add(to router: Router<ServiceContext>) {
        for route in routes { route.add(to: router) }
    }
}
