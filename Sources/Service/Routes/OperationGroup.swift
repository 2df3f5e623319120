import Entitlements
import Features
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

/// A group of operations of the service, with their routes. It takes the parts of the service, and derives what its routes use.
protocol OperationGroup: Sendable {
    /// The operations under their heading in the OpenAPI document.
    static var tag: OperationTag { get }
    /// The settings that turn operations on; empty for a group that is always there.
    static var optional: [OptionalOperations] { get }
    /// The errors whose sentences say all; `Errors.md` explains the others.
    static var errors: [any RuledError] { get }
    var parts: ServiceParts { get }

    /// - Returns: Nil if its setting is off.
    init?(parts: ServiceParts)

    /// Adds the routes with authentication.
    func add(to group: RouterGroup<ServiceContext>)
    /// Adds the routes without authentication.
    func addUnauthenticated(to group: RouterGroup<ServiceContext>)
}

extension OperationGroup {
    static var operations: [APIOperation] { tag.operations }
    static var optional: [OptionalOperations] { [] }
    static var errors: [any RuledError] { [] }

    var till: Till { parts.till }
    var service: EntitlementService { parts.till.entitlements }
    /// The clock of the machine.
    var clock: any WallClock { parts.till.clock }
    var stores: StoreClients { parts.stores }
    var googlePlay: GooglePlayApps { parts.stores.googlePlay }
    var settings: RouteSettings { parts.settings }
    var door: RedemptionDoor { parts.door }
    var catalogs: CatalogViews { parts.catalogs }
    var subjects: Subjects { parts.subjects }

    func add(to group: RouterGroup<ServiceContext>) {}
    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {}
}

/// The parts of a service that the groups of operations share. What they count lasts beyond one router.
///
/// A class because of its width (`CompilerBugTests`).
final class ServiceParts: Sendable {
    /// No chain is cached after a start. Until then a genuine notification waits behind junk for a few milliseconds.
    private static let waitingPerUncachedChain = 256

    let till: Till
    let stores: StoreClients
    let settings: RouteSettings
    let door: RedemptionDoor
    let catalogs: CatalogViews
    let subjects: Subjects
    /// The rate limits of callers; nil for none.
    let limits: RateLimitMiddleware?
    /// The concurrency limit for proofs with an uncached chain. Verifying a chain is expensive, and anyone may send one.
    let uncachedChains: ConcurrencyLimit
    /// The live events; nil to leave them out.
    let events: EventHub?
    let attempts: AccountAttempts
    let passwords = PasswordWork()

    init(_ till: Till, _ stores: StoreClients, _ settings: RouteSettings) {
        (self.till, self.stores, self.settings) = (till, stores, settings)
        let (ledger, clock) = (till.ledger, till.clock)
        door = stores.door(of: till.entitlements, counting: settings.metrics)
        catalogs = CatalogViews(till.entitlements.apps)
        subjects = Subjects(
            issuers: settings.authentication.acceptsAnyIssuer
                ? nil : settings.authentication.issuers + [User.customerIssuer],
            idempotentRequests: IdempotentRequests(ledger: ledger, clock: till.entitlements.clock))
        limits = settings.limits.map { RateLimitMiddleware(limits: $0, clock: clock) }
        uncachedChains = ConcurrencyLimit(
            settings.maximumUncachedChains,
            maximumWaiting: settings.maximumUncachedChains * Self.waitingPerUncachedChain)
        events = settings.listeners.map { EventHub(ledger: ledger, $0) }
        attempts = AccountAttempts(clock: clock)
    }
}
