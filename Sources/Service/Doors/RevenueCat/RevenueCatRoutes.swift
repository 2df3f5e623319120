import Catalog
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

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

    func addMiddleware(to router: Router<ServiceContext>) {
        router.add(middleware: RevenueCatErrorMiddleware())
    }

    func add(to router: Router<ServiceContext>) {
        let open = router.group().add(middleware: RevenueCatErrorMiddleware())
        addStubs(to: open)
        let recognised = open.group().add(
            middleware: AuthenticationMiddleware(
                authentication: services.authentication, acceptsPublicKeys: true))
        if let limits = services.limits { recognised.add(middleware: limits) }
        let app = recognised.for(.publicApp, usesReserve: true)
        addReading(to: app)
        addBuying(to: app)
        addStubsForApps(to: app)
        addStating(to: recognised.for(.publicApp))
    }

    private func addReading(to group: RouterGroup<ServiceContext>) {
        group.on(.customer) { request, context in
            try await RevenueCatCustomers(services: try services(for: context))
                .answer(about: try customer(in: context), request)
        }
        group.on(.offerings) { request, context in
            RevenueCatAnswer.response(
                RevenueCatOfferings(try catalog(of: context)).json, for: request, at: services.clock.now())
        }
        group.on(.productEntitlementMapping) { request, context in
            let rights = RevenueCatCustomers(services: try services(for: context)).rights
            return RevenueCatAnswer.response(
                ProductEntitlementMapping(rights).json, for: request, at: services.clock.now())
        }
        group.on(.virtualCurrencies) { request, context in
            let currencies = try await virtualCurrencies(context)
            return RevenueCatAnswer.response(currencies.json, for: request, at: services.clock.now())
        }
        group.on(.introEligibility) { request, context in
            let asked = try await Self.read(request, context) { try IntroEligibilityRequest($0) }
            let customers = RevenueCatCustomers(services: try services(for: context))
            let eligibility = IntroEligibility(
                asked.productIdentifiers, of: try await customers.transactions(of: try customer(in: context)),
                groups: Self.groups(try catalog(of: context)))
            return RevenueCatAnswer.response(eligibility.json, for: request, at: services.clock.now())
        }
    }

    private func virtualCurrencies(_ context: ServiceContext) async throws -> VirtualCurrencies {
        let entitlements = try services(for: context).entitlements
        return VirtualCurrencies(try await entitlements.balances(of: try customer(in: context).user))
    }

    private func addBuying(to group: RouterGroup<ServiceContext>) {
        let receipts = RevenueCatReceipts(services: services)
        group.on(.receipts) { request, context in
            let sent = try await Self.read(request, context) { try ReceiptRequest($0) }
            return try await receipts.answer(
                sent, from: try context.requiredCaller, context.newcomers(for: request), request)
        }
        group.on(.offers) { request, context in
            let asked = try await Self.read(request, context) { try OfferRequest($0) }
            let signed = try OfferSigning(services: services, catalog: catalog(of: context)).sign(asked)
            return RevenueCatAnswer.response(signed.json, for: request, at: services.clock.now())
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
        group.on(.attributes) { request, context in
            let body = try await RequestBytes.collect(request, context, upTo: AttributeChanges.maximumBodySize)
            let customer = try customer(in: context)
            let stated = StatedAttributes(
                try await BlockingWork.process(body.count) { try AttributeChanges.read(body) })
            // An SDK keeps refused attributes, and sends them when the app comes to the front or leaves it.
            let failures = try await stated.record(
                of: customer.user, context.newcomers(for: request), try services(for: context))
            guard failures.isEmpty else { throw RevenueCatProblem(refusing: failures) }
            return RevenueCatAnswer.response(RevenueCatStub.accepted, for: request, at: services.clock.now())
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
        let logIn = try await services.entitlements.logIn(
            current.user, as: new.user, by: try context.requiredCaller.actor,
            newcomers: context.newcomers(for: request))
        return try await RevenueCatCustomers(services: try services(for: context))
            .answer(about: new, request, status: logIn.isNew ? .created : .ok)
    }

    /// The answers to features that Till does not have, for apps with a key.
    private func addStubsForApps(to group: RouterGroup<ServiceContext>) {
        for endpoint in [RevenueCatEndpoint.attribution, .adServicesAttribution, .events, .diagnostics] {
            group.on(endpoint) { request, _ in
                RevenueCatAnswer.response(RevenueCatStub.accepted, for: request, at: services.clock.now())
            }
        }
        group.on(.restoreEligibility) { request, _ in
            RevenueCatAnswer.response(
                RevenueCatStub.restoreEligibility(isAllowed: true), for: request, at: services.clock.now())
        }
        group.on(.remoteConfiguration) { _, _ in Response(status: .noContent) }
    }

    /// The answers that SDKs ask for without a key.
    private func addStubs(to group: RouterGroup<ServiceContext>) {
        group.on(.healthReportAvailability) { request, _ in
            RevenueCatAnswer.response(
                RevenueCatStub.healthReportAvailability, for: request, at: services.clock.now())
        }
        for endpoint in [RevenueCatEndpoint.health, .connectivity] {
            group.on(endpoint) { request, _ in
                RevenueCatAnswer.response(RevenueCatStub.accepted, for: request, at: services.clock.now())
            }
        }
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

    private static func groups(_ catalog: Catalog) -> [ByteKey: String] {
        var groups: [ByteKey: String] = [:]
        for product in catalog.products {
            groups[ByteKey(product.productIdentifier)] = product.subscription?.groupIdentifier
        }
        return groups
    }
}

extension RouterGroup where Context == ServiceContext {
    /// Adds the handler of an endpoint.
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
