import HTTPTypes
import Hummingbird
import Logging

/// Counts and logs each request by its route. The path would name users.
package struct RequestMiddleware: RouterMiddleware {
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private let metrics: ServiceMetrics
    private let sharedLimits: SharedLimits

    package init(metrics: ServiceMetrics, sharedLimits: SharedLimits) {
        self.metrics = metrics
        self.sharedLimits = sharedLimits
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        metrics.requestBegan()
        defer { metrics.requestEnded() }
        let started = ContinuousClock.now
        var context = context
        context.sharedLimits = sharedLimits
        var response: Response
        if let name = HTTPField.Name.refusal, let refusal = request.headers[name].flatMap(RequestHead.Refusal.init) {
            context.notes.code = "headInvalid"
            response = try Problem(status: .badRequest, code: "headInvalid", detail: refusal.sentence).response()
        } else {
            warnAboutProxy(request, context)
            response = try await limited(request, context, next)
        }
        // The client can quote this identifier to find the request's log line.
        if let name = HTTPField.Name("X-Request-Id"), let identifier = context.logger[metadataKey: "hb.request.id"] {
            response.headers[name] = "\(identifier)"
        }
        let duration = ContinuousClock.now - started
        let method = Self.methods.contains(request.method.rawValue) ? request.method.rawValue : "other"
        let route = context.endpointPath ?? "NotFound"
        metrics.countRequest(method: method, route: route, status: response.status.code, duration: duration)
        guard context.logger.logLevel <= .info else { return response }
        var metadata: Logger.Metadata = [
            "method": "\(method)", "route": "\(route)", "status": "\(response.status.code)",
            "milliseconds": "\(Int(duration / .milliseconds(1)))",
        ]
        if let key = context.notes.key { metadata["key"] = "\(key)" }
        if let code = context.notes.code { metadata["code"] = "\(code)" }
        context.logger.info("request", metadata: metadata)
        return response
    }

    /// Limits the requests in progress of one client behind proxies.
    private func limited(
        _ request: Request,
        _ context: ServiceContext,
        _ next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let requests = sharedLimits.requests else { return try await next(request, context) }
        let address = context.clientAddress(of: request)
        guard requests.begin(from: address) else {
            context.notes.code = Problem.tooBusy.code
            return try Problem.tooBusy.response()
        }
        defer { requests.end(from: address) }
        return try await next(request, context)
    }

    private func warnAboutProxy(_ request: Request, _ context: ServiceContext) {
        guard sharedLimits.addresses.proxies == 0, let name = HTTPField.Name.forwardedFor,
            request.headers[name] != nil, sharedLimits.shouldWarnAboutProxy()
        else { return }
        context.logger.warning(
            "A request has X-Forwarded-For, but `proxies` is 0. If your proxy sent it, set `proxies`: all clients share its limits."
        )
    }
}
