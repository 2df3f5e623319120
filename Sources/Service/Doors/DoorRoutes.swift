import HTTPSupport
import Hummingbird

/// The routes of the open doors.
public struct DoorRoutes: RouteSource {
    private let routes: [any RouteSource]

    public init(_ doors: [Door], services: DoorServices) {
        let open: [any RouteSource] = doors.map { door in
            switch door {
            case .revenueCat: RevenueCatRoutes(services: services)
            case .cordova: CordovaRoutes(services: services)
            case .iapkit: IAPKitRoutes(services: services)
            }
        }
        routes = open + (doors.contains(.revenueCat) ? [] : [ClosedRevenueCatRoute()])
    }

    public func addMiddleware(to router: Router<ServiceContext>) {
        for route in routes { route.addMiddleware(to: router) }
    }

    public func add(to router: Router<ServiceContext>) {
        for route in routes { route.add(to: router) }
    }
}
