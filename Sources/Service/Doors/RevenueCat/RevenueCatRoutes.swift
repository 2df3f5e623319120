import Catalog
import Entitlements
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// The routes of the protocol of RevenueCat's SDKs.
///
/// An app names its customer by an id, and authenticates itself by its public key. So every route only reads one customer,
/// states attributes, or redeems proofs.
struct RevenueCatRoutes: RouteSource {
    let services: DoorServices

    /// The services, as far as the app of the request's key sees them.
    private func services(for context: ServiceContext) throws -> DoorServices {
        services.limited(to: try context.requiredCaller)
    }

    var pathMiddleware: [PathMiddleware.Entry] {
        RevenueCatEndpoint.allCases.map { ($0.method, $0.path, RevenueCatErrorMiddleware()) }
    }

    func add(to router: Router<ServiceContext>) {
        let open = router.group().add(middleware: RevenueCatErrorMiddleware())
        let recognised = services.recognised(open)
        let app = recognised.for(.publicApp, usesReserve: true)
        addReading(to: app)
        addBuying(to: app)
        addStating(to: recognised.for(.publicApp))
        addStubs(open: open, for: app)
    }

    /// Adds the handler of an endpoint, whose answer has an entity tag.
    private func answer(
        _ endpoint: RevenueCatEndpoint,
        in group: RouterGroup<ServiceContext>,
        _ json: @escaping @Sendable (Request, ServiceContext) async throws -> JSONValue
    ) {
        group.on(endpoint) { request, context in
            RevenueCatAnswer.response(
                try await json(request, context), for: request, at: services.entitlements.clock.now())
        }
    }

    private func addReading(to group: RouterGroup<ServiceContext>) {
        group.on(.customer) { request, context in
            try await services(for: context).answer(
                about: try customer(in: context), request, isAfterWrite: false)
        }
        answer(.offerings, in: group) { request, context in
            RevenueCatOfferings.json(of: try catalog(of: context), isAndroid: Self.isAndroid(request))
        }
        answer(.productEntitlementMapping, in: group) { request, context in
            let plans = Self.isAndroid(request) ? try catalog(of: context).offerings.basePlans : [:]
            return try services(for: context).rights.productEntitlementMapping(basePlans: plans)
        }
        answer(.virtualCurrencies, in: group) { _, context in
            let entitlements = try services(for: context).entitlements
            return try await entitlements.balances(of: try customer(in: context).user).virtualCurrencies
        }
        answer(.introEligibility, in: group) { request, context in
            let asked = try await Self.read(request, context) { try IntroEligibilityRequest($0) }
            let history = try await services(for: context).entitlements.history(of: try customer(in: context).user)
            return IntroEligibility(
                asked.productIdentifiers, of: history?.transactions ?? [],
                groups: try catalog(of: context).subscriptionGroups
            ).json
        }
    }

    private func addBuying(to group: RouterGroup<ServiceContext>) {
        group.on(.receipts) { request, context in
            let isAndroid = Self.isAndroid(request)
            let sent = try await Self.read(request, context) { try ReceiptRequest($0, isAndroid: isAndroid) }
            return try await services.answer(
                sent, from: try context.requiredCaller, context.newcomers(for: request), request)
        }
        answer(.offers, in: group) { request, context in
            let asked = try await Self.read(request, context) { try OfferRequest($0) }
            let catalog = try catalog(of: context)
            return try asked.answer(
                from: catalog, signedBy: services.shared.stores.offerSigners[ByteKey(catalog.bundleIdentifier)],
                at: services.entitlements.clock.now())
        }
    }

    private func addStating(to group: RouterGroup<ServiceContext>) {
        group.on(.logIn) { request, context in
            let names = try LogInRequest(try await Self.shortBody(of: request, context))
            return try await logIn(names.user, as: names.newUser, request, context)
        }
        group.on(.alias) { request, context in
            let members = try RequestMembers(try await Self.shortBody(of: request, context))
            return try await logIn(
                try context.parameters.text("user"), as: try members.text("new_app_user_id"), request, context)
        }
        answer(.attributes, in: group) { request, context in
            let body = try await RequestBytes.collect(request, context, upTo: AttributeChanges.maximumBodySize)
            let customer = try customer(in: context)
            let stated = try await BlockingWork.process(body.count) { try AttributeChanges(body) }
            // An SDK keeps refused attributes, and sends them when the app comes to the front or leaves it.
            let failures = try await stated.record(
                of: customer.user, context.newcomers(for: request), try services(for: context))
            guard failures.isEmpty else { throw RevenueCatProblem(refusing: failures) }
            return RevenueCatStub.accepted
        }
    }

    private func logIn(
        _ current: String,
        as new: String,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> Response {
        // A customer leaves a blocked id by a log-in.
        guard let current = CustomerIdentifier(current) else { throw Problem.customerInvalid }
        let new = try services.customer(new)
        // A refusal beyond the allowance would lock out everyone who is new today. Such a log-in has no purchase to bring along.
        let (actor, newcomers) = (try context.requiredCaller.actor, context.newcomers(for: request))
        let moment = try await services.entitlements.now(of: current.user)
        let logIn = try await services.entitlements.ledger.write {
            try $0.logIn(current.user, as: new.user, by: actor, newcomers: newcomers, at: moment)
        }
        return try await services(for: context).answer(about: new, request, status: logIn.isNew ? .created : .ok)
    }

    /// The answers to features that Till does not have. SDKs ask for some of them without a key.
    private func addStubs(open: RouterGroup<ServiceContext>, for app: RouterGroup<ServiceContext>) {
        answer(.healthReportAvailability, in: open) { _, _ in RevenueCatStub.healthReportAvailability }
        for endpoint in [RevenueCatEndpoint.health, .connectivity] {
            answer(endpoint, in: open) { _, _ in RevenueCatStub.accepted }
        }
        for endpoint in [RevenueCatEndpoint.attribution, .adServicesAttribution, .events, .diagnostics] {
            answer(endpoint, in: app) { _, _ in RevenueCatStub.accepted }
        }
        answer(.restoreEligibility, in: app) { _, _ in RevenueCatStub.restoreEligibility }
        app.on(.remoteConfiguration) { _, _ in Response(status: .noContent) }
    }

    /// True for an SDK on Android with Google Play. With the Amazon Appstore, it names another platform.
    private static func isAndroid(_ request: Request) -> Bool {
        HTTPField.Name.revenueCatPlatform.flatMap { request.headers[$0] }?.hasSameBytes(as: "android") ?? false
    }

    private func customer(in context: ServiceContext) throws -> CustomerIdentifier {
        try services.customer(try context.parameters.text("user"))
    }

    /// Reads a body with a proof. SDKs send the app receipt also beside offers and introductory prices, where it is not read.
    private static func read<Value: Sendable>(
        _ request: Request,
        _ context: ServiceContext,
        _ read: @escaping @Sendable ([UInt8]) throws -> Value
    ) async throws -> Value {
        let body = try await RequestBytes.collect(request, context, upTo: RequestMembers.maximumBodySize)
        return try await BlockingWork.process(body.count) { try read(body) }
    }

    /// The body of a request without a proof.
    private static func shortBody(of request: Request, _ context: ServiceContext) async throws -> [UInt8] {
        try await RequestBytes.collect(request, context, upTo: JSONBody.standardSize)
    }

    /// - Throws: `Problem` if the key's app is no longer configured.
    private func catalog(of context: ServiceContext) throws -> Catalog {
        let name = try context.requiredCaller.app
        guard let catalog = name.flatMap({ services.entitlements.catalogs[$0] }) else { throw Problem.appNotConfigured }
        return catalog
    }
}

extension RouterGroup where Context == ServiceContext {
    fileprivate func on(
        _ endpoint: RevenueCatEndpoint,
        use handler: @escaping @Sendable (Request, ServiceContext) async throws -> Response
    ) {
        on(RouterPath(endpoint.path), method: endpoint.method, use: handler)
    }
}

extension Problem {
    static let customerInvalid = Problem(
        status: .badRequest, code: "userInvalid",
        detail:
            "The customer's id must have 1 to \(CustomerIdentifier.maximumLength) bytes of UTF-8.")

    fileprivate static let appNotConfigured = Problem(
        status: .forbidden, code: "appForbidden",
        detail: "The service does not sell the app of this key. Add the app's catalog to the configuration.")
}

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

    private static let table = PathTable(allCases.map { ($0.method, $0.path, $0) })

    /// The endpoint of a request. Nil if the protocol has none.
    package init?(method: HTTPRequest.Method, path: Substring) {
        guard let found = Self.table.value(of: method, at: path) else { return nil }
        self = found
    }
}
