import Features
import HTTPSupport
import Hummingbird
import Proofs

/// A protocol of another purchase server. Its clients work with Till unmodified.
package enum Door: String, CaseIterable, Sendable {
    /// The SDKs of RevenueCat, through `Purchases.proxyURL`.
    case revenueCat = "revenuecat"
    /// cordova-plugin-purchase, through `store.validator`.
    case cordova
    /// react-native-iap and expo-iap, through `verifyPurchaseWithProvider`.
    case iapkit
}

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

/// The parts of the running service that the doors use.
///
/// A class: Swift 6.3.1 crashes while it compiles a route that keeps a copy as wide as these parts while it waits.
package final class DoorServices: Sendable {
    package let entitlements: EntitlementService
    package let attributes: AttributeService
    package let authentication: Authentication
    /// The rate limits of callers; nil for none.
    package let limits: RateLimitMiddleware?
    package let metrics: ServiceMetrics
    package let clock: any WallClock
    /// The signers of promotional offers, by the bundle identifier of the app.
    let offerSigners: [ByteKey: OfferSigner]

    /// The same services, as far as a caller sees and changes them.
    func limited(to caller: Caller) -> DoorServices {
        guard let app = caller.limitingApp else { return self }
        return DoorServices(self, limitedTo: app)
    }

    private init(_ services: DoorServices, limitedTo app: String) {
        entitlements = services.entitlements.limited(to: app)
        attributes = services.attributes.limited(to: app)
        authentication = services.authentication
        limits = services.limits
        metrics = services.metrics
        clock = services.clock
        offerSigners = services.offerSigners
    }

    /// Signs an offer: the identifiers of the product and the offer, the account token or an empty string, and the moment.
    package typealias OfferSigner = @Sendable (String, String, String, Timestamp) throws -> PromotionalOfferSignature

    /// The customer of an id that an app sends.
    ///
    /// - Throws: `Problem` with the code `userInvalid`, also for an id that stands for no customer.
    func customer(_ identifier: String) throws(Problem) -> CustomerIdentifier {
        guard let customer = CustomerIdentifier(identifier) else { throw .customerInvalid }
        guard !entitlements.blockedNames.contains(identifier) else {
            throw Problem(RedemptionError.userBlocked) ?? .customerInvalid
        }
        return customer
    }

    package init(
        entitlements: EntitlementService,
        authentication: Authentication,
        limits: RequestLimits?,
        metrics: ServiceMetrics,
        offerSigners: [ByteKey: OfferSigner] = [:],
        clock: any WallClock
    ) {
        self.offerSigners = offerSigners
        self.entitlements = entitlements
        self.authentication = authentication
        self.metrics = metrics
        self.clock = clock
        self.limits = limits.map { RateLimitMiddleware(limits: $0, clock: clock) }
        attributes = AttributeService(ledger: entitlements.ledger, clock: clock)
    }
}
