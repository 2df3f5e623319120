import HTTPTypes
import Hummingbird
import Logging

/// Counts and logs each request: by its route, never by its address, which names users.
struct RequestMiddleware: RouterMiddleware {
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    let metrics: ServiceMetrics
    let sharedLimits: SharedLimits

    func handle(
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
            response = try await next(request, context)
        }
        // By which a caller's question leads to its line in the log.
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
}
