import HTTPTypes
import Hummingbird
import Logging

/// Counts and logs each request by its route. The path would name users.
struct RequestMiddleware: RouterMiddleware {
    private static let identifierHeader = HTTPField.Name("X-Request-Id")
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    let metrics: ServiceMetrics
    /// The limit on lines about requests of strangers.
    let lines: LogLimit

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        metrics.requestBegan()
        defer { metrics.requestEnded() }
        let started = ContinuousClock.now
        var response = try await next(request, context)
        // The client can quote this identifier to find the request's log line.
        if let name = Self.identifierHeader, let identifier = context.logger[metadataKey: "hb.request.id"] {
            response.headers.reserveForAnswer()
            response.headers[name] = "\(identifier)"
        }
        let ended = ContinuousClock.now
        let duration = ended - started
        let method = Self.methods.contains(request.method.rawValue) ? request.method.rawValue : "other"
        let route = context.endpointPath ?? "NotFound"
        metrics.countRequest(method: method, route: route, status: response.status.code, duration: duration, at: ended)
        guard context.logger.logLevel <= .info else { return response }
        let level = level(of: response, to: request, "\(method) \(route)", context, at: ended)
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

    /// The level of the line about a request. Strangers, who send as many as they like, must not fill the log.
    private func level(
        of response: Response, to request: Request, _ operation: String, _ context: ServiceContext,
        at now: ContinuousClock.Instant
    ) -> Logger.Level {
        guard !context.notes.isOfKnownCaller else { return .info }
        let isRefused = response.status.code >= 400
        let cause = isRefused ? context.notes.code ?? "status\(response.status.code)" : operation
        return lines.level(
            .info, of: cause, from: context.clientNetwork(of: request), in: context.logger, at: now,
            upTo: isRefused ? LogLimit.linesPerMinute : LogLimit.answersPerMinute)
    }
}
