import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Tells callers the ledger's position, and lets a standby answer the reads of a request that has one.
///
/// Without a position, the service cannot know what the caller has written through another service, so the primary answers. No request
/// that may write is answered by a standby.
package struct PositionMiddleware: RouterMiddleware {
    let replicas: PostgreSQLReplicas
    let clock: any WallClock

    package init(replicas: PostgreSQLReplicas, clock: any WallClock) {
        self.replicas = replicas
        self.clock = clock
    }

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let name = HTTPField.Name.position else { throw Problem.unexpected }
        guard request.method.isSafe else {
            let receipt = CommitReceipt()
            var response = try await CommitReceipt.$current.withValue(receipt) { try await next(request, context) }
            // Without a commit of its own, the answer may tell of another service's, and so may a kept answer: that commit can be later
            // than all of this service.
            let isReplayed = IdempotentRequests.replayedHeader.map { response.headers.contains($0) } ?? false
            let own = isReplayed ? nil : receipt.position
            response.headers[name] = (own ?? shown ?? .ofPrimary(at: clock.now())).text
            return response
        }
        guard let stated = request.headers[name].flatMap({ LedgerPosition($0, at: clock.now()) }) else {
            var response = try await next(request, context)
            response.headers[name] = shown?.text
            return response
        }
        // A commit of this service may be earlier than the stated one of another service, so the caller keeps its position.
        let required = stated.allowsStandbys(at: clock.now()) ? stated : nil
        var response = try await LedgerPosition.$required.withValue(required) { try await next(request, context) }
        response.headers[name] = stated.text
        return response
    }

    /// The position of an answer that shows what any service has committed until now; nil before the first commit of this service.
    private var shown: LedgerPosition? { replicas.position?.showing(allBefore: clock.now()) }
}
