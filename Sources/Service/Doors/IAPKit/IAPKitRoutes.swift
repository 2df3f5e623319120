import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The route that `verifyPurchaseWithProvider` of react-native-iap and expo-iap asks.
///
/// The protocol names no user. So the route verifies a proof and tells the state of its purchase, and redeems nothing.
struct IAPKitRoutes: RouteSource {
    private static let path = "v1/purchase/verify"

    let services: DoorServices

    /// True for the path of the route.
    static func isPath(_ path: String) -> Bool {
        path.split(separator: "/").map { Array($0.utf8) } == Self.path.split(separator: "/").map { Array($0.utf8) }
    }

    func addMiddleware(to router: Router<ServiceContext>) {
        router.add(middleware: IAPKitErrorMiddleware())
    }

    func add(to router: Router<ServiceContext>) {
        let group = router.group().add(middleware: IAPKitErrorMiddleware()).add(
            middleware: AuthenticationMiddleware(
                authentication: services.authentication, acceptsPublicKeys: true))
        if let limits = services.limits { group.add(middleware: limits) }
        let asking = group.for(.backEndOrPublicApp(.read), isPerApp: true, usesReserve: true)
        asking.post(RouterPath(Self.path)) { request, context in
            let body = try await RequestBytes.collect(request, context, upTo: IAPKitRequest.maximumBodySize)
            let sent = try IAPKitRequest(body)
            let answer = try await answer(to: sent, from: try context.requiredCaller)
            return JSONAnswer.response(bytes: JSONAnswer.encode(answer.json))
        }
    }

    private func answer(to sent: IAPKitRequest, from caller: Caller) async throws -> IAPKitAnswer {
        let service = services.limited(to: caller).entitlements
        do {
            let verified = try await BlockingWork.process(sent.proof.count) {
                try service.verify(sent.proof)
            }
            let purchase = try await service.purchase(in: verified)
            return IAPKitAnswer(purchase, expecting: sent.expectedProductIdentifier, at: services.clock.now())
        } catch RedemptionError.refused(let refusal) where IAPKitAnswer.isUnsigned(refusal.reason) {
            return .unsigned
        } catch let error as RedemptionError {
            throw IAPKitProblem(refusing: Problem(error) ?? .unexpected)
        }
    }
}
