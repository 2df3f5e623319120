import HTTPTypes
import Hummingbird
import Logging

/// Refuses requests with an invalid head, and requests above the limit of one client behind proxies.
package struct AdmissionMiddleware: RouterMiddleware {
    private let sharedLimits: SharedLimits

    package init(sharedLimits: SharedLimits) {
        self.sharedLimits = sharedLimits
    }

    package func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.sharedLimits = sharedLimits
        if let name = HTTPField.Name.refusal, let refusal = request.headers[name].flatMap(RequestHead.Refusal.init) {
            context.notes.code = "headInvalid"
            return try Problem(status: .badRequest, code: "headInvalid", detail: refusal.sentence).response()
        }
        warnAboutProxy(request, context)
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
