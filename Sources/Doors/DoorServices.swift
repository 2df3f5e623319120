import Attributes
import Commerce
import Entitlements
import HTTPSupport

/// What the doors use of the running service.
public struct DoorServices: Sendable {
    package let entitlements: EntitlementService
    package let attributes: AttributeService
    package let authentication: Authentication
    /// The rate limits of callers; nil for none.
    package let limits: RateLimitMiddleware?
    package let metrics: ServiceMetrics
    package let clock: any WallClock

    public init(
        entitlements: EntitlementService,
        authentication: Authentication,
        limits: RequestLimits?,
        metrics: ServiceMetrics,
        clock: any WallClock
    ) {
        self.entitlements = entitlements
        self.authentication = authentication
        self.metrics = metrics
        self.clock = clock
        self.limits = limits.map { RateLimitMiddleware(limits: $0, clock: clock) }
        attributes = AttributeService(ledger: entitlements.ledger, clock: clock)
    }
}
