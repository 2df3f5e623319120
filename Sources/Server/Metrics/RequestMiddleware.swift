import Hummingbird

/// Counts and logs each request: by its route, never by its address, which names users.
struct RequestMiddleware: RouterMiddleware {
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    let metrics: ServiceMetrics

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        metrics.requestBegan()
        defer { metrics.requestEnded() }
        let started = ContinuousClock.now
        let response = try await next(request, context)
        let duration = ContinuousClock.now - started
        let method = Self.methods.contains(request.method.rawValue) ? request.method.rawValue : "other"
        let route = context.endpointPath ?? "NotFound"
        metrics.countRequest(method: method, route: route, status: response.status.code, duration: duration)
        context.logger.info(
            "request",
            metadata: [
                "method": "\(method)", "route": "\(route)", "status": "\(response.status.code)",
                "milliseconds": "\(Int(duration / .milliseconds(1)))",
            ])
        return response
    }
}
