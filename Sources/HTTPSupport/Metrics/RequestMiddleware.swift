import HTTPTypes
import Hummingbird
import Logging

/// Counts and logs each request by its route. The path would name users.
package struct RequestMiddleware: RouterMiddleware {
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private let metrics: ServiceMetrics
    /// The limit on lines about refused requests of strangers.
    private let lines = LogLimit()

    package init(metrics: ServiceMetrics) {
        self.metrics = metrics
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        metrics.requestBegan()
        defer { metrics.requestEnded() }
        let started = ContinuousClock.now
        var response = try await next(request, context)
        // The client can quote this identifier to find the request's log line.
        if let name = HTTPField.Name("X-Request-Id"), let identifier = context.logger[metadataKey: "hb.request.id"] {
            response.headers[name] = "\(identifier)"
        }
        let duration = ContinuousClock.now - started
        let method = Self.methods.contains(request.method.rawValue) ? request.method.rawValue : "other"
        let route = context.endpointPath ?? "NotFound"
        metrics.countRequest(method: method, route: route, status: response.status.code, duration: duration)
        let isStrangers = response.status.code >= 400 && !context.notes.isOfKnownCaller
        let level = isStrangers ? lines.level(.info) : .info
        guard context.logger.logLevel <= level else { return response }
        var metadata: Logger.Metadata = [
            "method": "\(method)", "route": "\(route)", "status": "\(response.status.code)",
            "milliseconds": "\(Int(duration / .milliseconds(1)))",
        ]
        if let key = context.notes.key { metadata["key"] = "\(key)" }
        if let code = context.notes.code { metadata["code"] = "\(code)" }
        context.logger.log(level: level, "request", metadata: metadata)
        return response
    }
}
