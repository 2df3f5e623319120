import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs

/// The reset of the service between two tests of a suite, beside the sandboxes of the local stores. Only a service that allows resets has
/// the route.
package struct ResetRoutes: RouteSource {
    private let service: EntitlementService
    private let stores: StoreClients
    private let sandboxKey: APIKey

    package init(_ service: EntitlementService, stores: StoreClients, sandboxKey: APIKey) {
        (self.service, self.stores, self.sandboxKey) = (service, stores, sandboxKey)
    }

    package func add(to router: Router<ServiceContext>) {
        router.group().sandbox(of: "The service", key: sandboxKey).on(.resetService) { _, _ in
            let reset = try await service.ledger.reset(at: service.clock.now())
            stores.logger.notice("reset the ledger", metadata: ["users": "\(reset.users)"])
            for app in stores.googlePlay { app.questions.forgetAll() }
            try await service.names.keepUp(isRebuild: true)
            return try reset.answer()
        }
    }
}

extension APIOperation {
    fileprivate static let resetService = sandbox(
        .post, "service/reset", "resetService",
        "Deletes the users, the purchases and all that followed from them; what configures the service stays",
        answers: [.json("The things that were deleted.", LedgerReset.self)], or: [.conflict])
}

extension LedgerReset: AnswerObject {
    package static let answerFields = AnswerFields<Self>("The things that a reset has deleted.", named: "ServiceReset")
    {
        $0.field("users", "The number of users.", \.users)
    }
}
