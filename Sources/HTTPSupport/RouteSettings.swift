/// The settings of a service's routes: their callers, the limits on requests, and what the metrics count.
package struct RouteSettings: Sendable {
    /// The usual time for a retention message, in milliseconds. "Your server must respond to requests within approximately 700 ms in the
    /// sandbox environment" (Retention Messaging API, "Initiate Performance Test"), with the way there and back.
    package static let retentionMilliseconds = 300

    package let authentication: Authentication
    /// The rate limits of callers, and the budget of users without a purchase, also at the doors; nil for none.
    package var limits: RequestLimits?
    /// The metrics that the routes update. The use cases report their steps to the same object.
    package var metrics = ServiceMetrics()
    /// The limit on notifications with an uncached chain that are verified at once.
    package var maximumUncachedChains = 2
    /// The time in which the App Store gets a retention message.
    package var retentionTime = Duration.milliseconds(RouteSettings.retentionMilliseconds)
    /// The limit on the bytes of request bodies in memory.
    package var bodies = BodyBudget()
    /// The limits on live event streams; nil to leave the streams out.
    package var listeners: EventListeners<Int64>?
    /// The number of trusted proxies before the service.
    package var proxies = 0
    /// The limits on concurrent requests of one client network; nil for none.
    package var requests: NetworkCounts?
    /// The reserve of free space on the ledger's disk; nil for none.
    package var reserve: StorageReserve?
    /// The TLS certificate, whose end the metrics have; nil without TLS.
    package var certificate: ServerCertificate?
    /// The origins of pages that may call the routes for apps.
    package var origins: [WebOrigin] = []

    package init(
        _ authentication: Authentication, limits: RequestLimits? = nil, metrics: ServiceMetrics = ServiceMetrics()
    ) {
        (self.authentication, self.limits, self.metrics) = (authentication, limits, metrics)
    }
}
