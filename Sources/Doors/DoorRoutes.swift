import HTTPSupport
import Hummingbird

/// The routes of the open doors.
public struct DoorRoutes: RouteSource {
    private let routes: [any RouteSource]

    public init(_ doors: [Door], services: DoorServices) {
        routes = doors.map { door in
            switch door {
            case .revenueCat: RevenueCatRoutes(services: services)
            case .cordova: CordovaRoutes(services: services)
            case .iapkit: IAPKitRoutes(services: services)
            }
        }
    }

    public func add(to router: Router<ServiceContext>) {
        for route in routes { route.add(to: router) }
    }
}
