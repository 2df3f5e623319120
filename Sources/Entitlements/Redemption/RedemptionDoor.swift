import Catalog
import Ledger
import Proofs

/// The one door to a purchase, the same for every caller: a store verifies the proof or is asked, the ledger decides, the result is
/// counted, and the refusal of an authentic proof is recorded.
package final class RedemptionDoor: Sendable {
    package let entitlements: EntitlementService
    private let stores: [any Store]
    private let onRedemption: @Sendable (Result<Redemption.Outcome, any Error>) -> Void

    /// - Parameters:
    ///   - stores: The stores besides those whose proofs a signature proves, in the order in which they look at a proof.
    ///   - onRedemption: Receives each outcome or refusal. A kept answer is none.
    package init(
        _ entitlements: EntitlementService, stores: [any Store] = [],
        onRedemption: @escaping @Sendable (Result<Redemption.Outcome, any Error>) -> Void = { _ in }
    ) {
        (self.entitlements, self.onRedemption) = (entitlements, onRedemption)
        self.stores = stores + [SignedProofs(entitlements)]
    }

    /// Redeems a proof for the user of the request.
    ///
    /// A second redemption changes nothing. A proof may have new purchases, known purchases and purchases of another user. Each gets
    /// its own result.
    ///
    /// - Throws: `RedemptionError` if the proof itself is refused, or the request names no user; a `RuledError` of a store's client if
    ///   the store does not know the purchase, or cannot be asked now; `StorageFault`.
    package func redeem(_ request: RedemptionRequest) async throws -> RedemptionAnswer {
        guard let user = request.user else { throw RedemptionError.userUnknown }
        return try await redeem(try await present(request), for: user)
    }

    /// The first half of a redemption: verifies a proof, or asks its store about it. Nothing is redeemed.
    ///
    /// - Throws: As `redeem` does.
    package func present(_ request: RedemptionRequest) async throws -> PresentedProof {
        try await reportingRefusal(of: request, for: request.user) {
            PresentedProof(request, try await statement(about: request))
        }
    }

    /// The second half of a redemption: decides about the purchases, in one transaction of the ledger.
    ///
    /// - Throws: `RedemptionError` if the user may not have the proof's purchases, whosever they are; `StorageFault`.
    package func redeem(_ presented: PresentedProof, for user: User) async throws -> RedemptionAnswer {
        let answer = try await reportingRefusal(of: presented.request, for: user) {
            let answer = try await entitlements.answer(try claims(of: presented, for: user))
            await presented.statement.finish()
            return try self.answer(answer, to: presented)
        }
        if case .decided(let decided) = answer { onRedemption(Result { try decided.outcome }) }
        return answer
    }

    private func statement(about request: RedemptionRequest) async throws -> Statement {
        for store in stores {
            switch try await store.verify(request.proof, from: request.presenter) {
            case .foreign: break
            case .stated(let statement): return statement
            case .unstated(let question): return try await store.ask(question, from: request.presenter)
            }
        }
        throw RedemptionError.notRedeemable
    }

    /// The claims of a proof, as the decision takes them.
    ///
    /// - Throws: `RedemptionError` for a name that stands for no user, and for an origin that is not accepted for the user.
    package func claims(of presented: PresentedProof, for user: User) throws(RedemptionError) -> PresentedClaims {
        let (request, statement) = (presented.request, presented.statement)
        let service = entitlements.limited(to: request.limitingApp)
        guard !service.blockedNames.contains(user) else { throw .userBlocked }
        let origins = service.accepted.origins(for: user)
        guard origins.contains(statement.origin) else {
            throw .refused(
                ProofRefusal(
                    .originNotAccepted, "The proof's origin \(statement.origin.rawValue) is not accepted for this user.")
            )
        }
        var claims = PresentedClaims(statement.claims.claims, for: user, accepting: origins, by: request.actor)
        (claims.limit, claims.newcomers, claims.withItems) = (service.limit, request.newcomers, request.withItems)
        claims.keeping = request.keeping.map { keeping in
            AnswerKeeping(key: keeping.key, oldest: service.clock.now().adding(days: -1)) { [self] answer in
                guard case .decided(let decided) = try? self.answer(answer, to: presented) else { return nil }
                return try? keeping.answer(decided.redemption)
            }
        }
        return claims
    }

    /// The answer to a request, from that of the ledger.
    ///
    /// - Throws: `RedemptionError` for an account that the ledger does not have.
    package func answer(
        _ answer: ClaimAnswer, to presented: PresentedProof
    ) throws(RedemptionError) -> RedemptionAnswer {
        switch answer {
        case .redeemed(let answer):
            let free = entitlements.limited(to: presented.request.limitingApp).view.free
            return .decided(DecidedRedemption(of: presented.statement.claims.claims, answer, owningBesides: free))
        case .kept(let earlier): return .kept(earlier)
        case .userUnknown, .recorded: throw .userUnknown
        }
    }

    /// Reports an error of a redemption. The caller gets it even if it cannot be recorded.
    private func reportingRefusal<Value>(
        of request: RedemptionRequest, for user: User?, _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            if request.refusals != .ignored { onRedemption(.failure(error)) }
            if request.refusals == .recorded, let user { try? await record(error, of: request, for: user) }
            throw error
        }
    }

    /// Records the refusal of an authentic proof, which support explains by it. Other refusals are only counted.
    private func record(_ error: any Error, of request: RedemptionRequest, for user: User) async throws {
        guard case .refused(let refusal)? = error as? RedemptionError, refusal.reason.step == .appAndOrigin else {
            return
        }
        var claims: [Claim] = []
        for store in stores where claims.isEmpty { claims = await store.claims(ofRefused: request.proof) }
        try await entitlements.limited(to: request.limitingApp).recordRefusal(
            refusal.code, of: claims, for: user, by: request.actor, newcomers: request.newcomers)
    }
}
