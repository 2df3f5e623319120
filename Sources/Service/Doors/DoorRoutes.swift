import Catalog
import Entitlements
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// A protocol of another purchase server. Its clients work with Till unmodified.
package enum Door: String, CaseIterable, Sendable {
    /// The SDKs of RevenueCat, through `Purchases.proxyURL`.
    case revenueCat = "revenuecat"
    /// cordova-plugin-purchase, through `store.validator`.
    case cordova
    /// react-native-iap and expo-iap, through `verifyPurchaseWithProvider`.
    case iapkit
}

package struct DoorRoutes: RouteSource {
    private let routes: [any RouteSource]

    package init(_ doors: [Door], _ till: Till, stores: StoreClients = StoreClients(), _ settings: RouteSettings) {
        let services = DoorServices(till, stores: stores, settings)
        routes = Door.allCases.map { door in
            let open: any RouteSource =
                switch door {
                case .revenueCat: RevenueCatRoutes(services: services)
                case .cordova: CordovaRoutes(services: services)
                case .iapkit: IAPKitRoutes(services: services)
                }
            // After a status below 500, an SDK would finish the transaction, and the purchase would be lost.
            return doors.contains(door) ? open : ClosedRoutes("--doors \(door.rawValue)", insteadOf: open)
        }
    }

    package var pathMiddleware: [PathMiddleware.Entry] { routes.flatMap(\.pathMiddleware) }

    /// A door converts the errors of each of its routes, so it lists them all.
    package var appRoutes: [CrossOriginMiddleware.Route] { pathMiddleware.map { ($0.method, $0.path) } }

    package func add(to router: Router<ServiceContext>) {
        for route in routes { route.add(to: router) }
    }
}

/// The parts of the running service that the doors use.
///
/// A class: Swift 6.3.1 crashes while it compiles a route that keeps a copy as wide as these parts while it waits.
package final class DoorServices: Sendable {
    /// The parts that are the same for each caller.
    struct Shared: Sendable {
        let authentication: Authentication
        /// The rate limits of callers; nil for none.
        let limits: RateLimitMiddleware?
        let stores: StoreClients
        let door: RedemptionDoor
        let customerInfo = KeptCustomerInfo()
        fileprivate let keptRights = KeptRights()
    }

    package let entitlements: EntitlementService
    let shared: Shared

    package convenience init(_ till: Till, stores: StoreClients = StoreClients(), _ settings: RouteSettings) {
        let entitlements = till.entitlements
        self.init(
            entitlements,
            Shared(
                // A door's customers have no token of an issuer.
                authentication: settings.authentication.ofKeys,
                limits: settings.limits.map { RateLimitMiddleware(limits: $0, clock: entitlements.clock) },
                stores: stores, door: stores.door(of: entitlements, counting: settings.metrics)))
    }

    private init(_ entitlements: EntitlementService, _ shared: Shared) {
        (self.entitlements, self.shared) = (entitlements, shared)
    }

    /// The rights of the caller's apps, each with all products that give it.
    var rights: [RightSources] { shared.keptRights.rights(of: entitlements) }

    /// The same services, as far as a caller sees and changes them.
    func limited(to caller: Caller) -> DoorServices {
        guard let app = caller.limitingApp else { return self }
        return DoorServices(entitlements.limited(to: app), shared)
    }

    /// True if the service may ask Google Play about the purchases of an app.
    func mayAsk(about app: String) -> Bool {
        shared.stores.googlePlay.contains { $0.purchases.app.bundleIdentifier.hasSameBytes(as: app) }
    }

    /// A group whose callers may present the public keys of apps, within their rate limits.
    func recognised(_ group: RouterGroup<ServiceContext>) -> RouterGroup<ServiceContext> {
        group.authenticated(by: shared.authentication, within: shared.limits, acceptsPublicKeys: true)
    }

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

    func types(of products: [String]) -> [ByteKey: ProductType] {
        var types: [ByteKey: ProductType] = [:]
        for product in Set(products.map { ByteKey($0) }) { types[product] = entitlements.apps.type(of: product.text) }
        return types
    }

    /// The types of redeemed products: by the catalog, or by a proof if the catalog does not have the product any more.
    func types(of lines: [Redemption.Line], _ purchases: [ProvenPurchase]) -> [ByteKey: ProductType] {
        var types: [ByteKey: ProductType] = [:]
        for purchase in purchases { types[ByteKey(purchase.productIdentifier)] = purchase.productType }
        return types.merging(self.types(of: lines.map(\.productId))) { $1 }
    }
}

extension [ByteKey: ProductType] {
    /// True if a later proof contains the purchases of a product again, even if the app has finished them. The App Store never
    /// delivers a finished consumable again.
    func canReturn(_ product: String) -> Bool { self[ByteKey(product)].map { $0 != .consumable } ?? false }
}

protocol DoorProblem: Error {
    /// Till's code for the metrics; nil if it is noted already.
    var code: String? { get }

    func response() -> Response
}

/// The parts of a middleware that converts the errors at a door's paths.
///
/// Such a middleware is added twice. Around the routes, it converts the errors that they throw. Around the whole router, at the same
/// paths (`pathMiddleware`), it replaces problem documents from outside the routes, such as those of limits.
enum DoorErrors {
    /// Answers a request, with each error in the form of a protocol.
    ///
    /// - Parameters:
    ///   - keepsCode: True to keep the code of a problem document from outside the routes.
    ///   - answer: Returns a problem in the protocol's form.
    static func converted(
        _ request: Request,
        _ context: ServiceContext,
        _ next: (Request, ServiceContext) async throws -> Response,
        keepsCode: Bool = false,
        _ answer: (Problem) -> Response
    ) async -> Response {
        do {
            let response = try await next(request, context)
            guard response.status.code >= 400, response.headers[.contentType] == Problem.contentType else {
                return response
            }
            let noted = keepsCode ? context.notes.code : nil
            return answer(
                Problem(
                    status: response.status, code: noted ?? "httpError",
                    detail: "The service cannot process the request. Send it again later.",
                    retryAfter: response.headers[.retryAfter].flatMap { Int($0) }))
        } catch let problem as any DoorProblem {
            if let code = problem.code { context.notes.code = code }
            return problem.response()
        } catch {
            return answer(ProblemMiddleware.problem(of: error, context))
        }
    }

    /// A JSON answer with the delay before a retry, as text; nil if it is unknown.
    static func response(_ json: JSONValue, status: HTTPResponse.Status, retryAfter: String?) -> Response {
        var headers: HTTPFields = [:]
        if let retryAfter { headers[.retryAfter] = retryAfter }
        return JSONAnswer.response(bytes: JSONAnswer.encode(json), status: status, headers: headers)
    }
}
