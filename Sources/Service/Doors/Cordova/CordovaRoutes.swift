import HTTPSupport
import Hummingbird

/// The routes of the protocol of cordova-plugin-purchase (`store.validator`).
struct CordovaRoutes: RouteSource {
    let services: DoorServices

    func addMiddleware(to router: Router<ServiceContext>) {
        router.add(middleware: CordovaMiddleware())
    }

    func add(to router: Router<ServiceContext>) {
        let path = RouterPath(CordovaMiddleware.path)
        let open = router.group().add(middleware: CordovaMiddleware())
        // A web view asks before the request, and sends no key.
        open.on(path, method: .options) { _, _ in Response(status: .noContent) }
        let recognised = open.group().add(middleware: CordovaKeyMiddleware()).add(
            middleware: AuthenticationMiddleware(authentication: services.authentication, acceptsPublicKeys: true))
        if let limits = services.limits { recognised.add(middleware: limits) }
        recognised.for(.publicApp, usesReserve: true).on(path, method: .post) { request, context in
            let body = try await RequestBytes.collect(request, context, upTo: CordovaRequest.maximumBodySize)
            let sent = try await BlockingWork.process(body.count) { try CordovaRequest(body) }
            let caller = try context.requiredCaller
            let validation = CordovaValidation(
                services: services.limited(to: caller),
                newcomers: context.newcomers(for: request))
            let answer = try await validation.answer(to: sent, from: caller)
            return JSONAnswer.response(bytes: JSONAnswer.encode(answer.json))
        }
    }
}
