import HTTPSupport
import HTTPTypes
import Hummingbird

/// An endpoint of the protocol.
package enum RevenueCatEndpoint: String, CaseIterable, Sendable {
    case customer = "GET /v1/subscribers/{user}"
    case offerings = "GET /v1/subscribers/{user}/offerings"
    case receipts = "POST /v1/receipts"
    case logIn = "POST /v1/subscribers/identify"
    case productEntitlementMapping = "GET /v1/product_entitlement_mapping"
    case attributes = "POST /v1/subscribers/{user}/attributes"
    case offers = "POST /v1/offers"
    case introEligibility = "POST /v1/subscribers/{user}/intro_eligibility"
    case attribution = "POST /v1/subscribers/{user}/attribution"
    case adServicesAttribution = "POST /v1/subscribers/{user}/adservices_attribution"
    case alias = "POST /v1/subscribers/{user}/alias"
    case virtualCurrencies = "GET /v1/subscribers/{user}/virtual_currencies"
    case restoreEligibility = "POST /v1/subscribers/{user}/restore/eligibility"
    case healthReportAvailability = "GET /v1/subscribers/{user}/health_report_availability"
    case health = "GET /v1/health"
    case connectivity = "GET /v1/health/connectivity"
    case remoteConfiguration = "POST /v1/config/{domain}"
    case events = "POST /v1/events"
    case diagnostics = "POST /v1/diagnostics"

    /// The consequence of an error for the SDK.
    package enum Consequence: Sendable {
        /// A status below 500 ends the matter: the SDK finishes the transaction, or forgets the attributes.
        case ends
        /// The SDK reports the error to the app, and asks again later.
        case reports
        /// The SDK does without the answer. It must not be a status from 500.
        case ignores
    }

    package var consequence: Consequence {
        switch self {
        case .receipts, .attributes, .attribution, .adServicesAttribution: .ends
        case .remoteConfiguration: .ignores
        case .customer, .offerings, .logIn, .productEntitlementMapping, .offers,
            .introEligibility, .alias, .virtualCurrencies, .restoreEligibility, .healthReportAvailability, .health,
            .connectivity, .events, .diagnostics:
            .reports
        }
    }

    package var method: HTTPRequest.Method { rawValue.hasPrefix("GET ") ? .get : .post }

    /// The path, with its parameters in braces.
    package var path: String { String(rawValue.drop { $0 != "/" }) }

    /// The endpoint of a request. Nil if the protocol has none.
    package init?(method: HTTPRequest.Method, path: String) {
        let segments = path.split(separator: "/")
        let found = Self.allCases.first { endpoint in
            let names = endpoint.path.split(separator: "/")
            return endpoint.method == method && names.count == segments.count
                && zip(names, segments).allSatisfy { $0.hasPrefix("{") || $0.utf8.elementsEqual($1.utf8) }
        }
        guard let endpoint = found else { return nil }
        self = endpoint
    }
}

/// The answer to receipts while the door is closed.
///
/// With the status 404 an SDK would finish the transaction, and the purchase would be lost.
struct ClosedRevenueCatRoute: RouteSource {
    func add(to router: Router<ServiceContext>) {
        router.on(RouterPath(RevenueCatEndpoint.receipts.path), method: .post) { _, _ -> Response in
            throw Problem(
                status: .serviceUnavailable, code: "doorClosed",
                detail: "The door for RevenueCat's SDKs is closed. Start the service with --doors revenuecat.")
        }
    }
}
