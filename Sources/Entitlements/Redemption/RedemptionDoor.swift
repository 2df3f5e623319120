import Catalog
import Ledger
import Proofs
import Vocabulary

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
                    .originNotAccepted, "The proof's origin \(statement.origin.rawValue) is not accepted for this user."
                )
            )
        }
        var claims = PresentedClaims(statement.claims.claims, for: user, accepting: origins, by: request.actor)
        (claims.limit, claims.newcomers) = (service.limit, request.newcomers)
        (claims.withItems, claims.assignment) = (request.withItems, request.assignment)
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

/// A request to redeem a proof: the proof, its presenter, and what the service writes besides the purchases.
///
/// A class: Swift 6.3.1 crashes while it compiles a closure that keeps a copy as wide as these parts while it waits.
package final class RedemptionRequest: Sendable {
    /// An app receipt in base64 or DER, a signed transaction, a signed purchase or a purchase token of Google Play, or the proof of
    /// another store of the door.
    package let proof: [UInt8]
    /// Nil if only the proof can tell the user.
    package let user: User?
    package let actor: AuditActor
    /// The bundle identifier of the only app whose proofs the caller may send; nil for all apps.
    package let app: String?
    /// The bundle identifier of the only app that the caller sees; nil for all apps.
    package let limitingApp: String?
    /// The client network against which questions to a store count; nil for a back end.
    package let network: ClientNetwork?
    /// The caller's allowance for users without a purchase; nil for no limit. Beyond it, a refusal is not recorded.
    package let newcomers: NewcomerAllowance?
    package let keeping: Keeping?
    /// False if only the results are used.
    let withItems: Bool
    /// The reason for which the team assigns a purchase of nobody; nil if the user presents it.
    let assignment: String?
    let refusals: Refusals

    /// The idempotency key of a request, with the answer to keep under it for 24 hours.
    package typealias Keeping = (key: IdempotencyKey, answer: @Sendable (Redemption) throws -> KeptAnswer)

    /// The fate of a refusal.
    package enum Refusals: Sendable {
        /// It is counted, and that of an authentic proof is recorded for the user.
        case recorded
        case counted
        /// Nobody redeems: the caller asks for the state of a purchase.
        case ignored
    }

    package init(
        _ proof: [UInt8], for user: User?, by actor: AuditActor, of app: String? = nil,
        seeing limitingApp: String? = nil, at network: ClientNetwork? = nil, newcomers: NewcomerAllowance? = nil,
        keeping: Keeping? = nil, withItems: Bool = true, assignment: String? = nil, refusals: Refusals = .recorded
    ) {
        (self.proof, self.user, self.actor) = (proof, user, actor)
        (self.app, self.limitingApp) = (limitingApp ?? app, limitingApp)
        (self.network, self.newcomers, self.keeping) = (network ?? newcomers?.network, newcomers, keeping)
        (self.withItems, self.assignment, self.refusals) = (withItems, assignment, refusals)
    }

    var presenter: RedemptionDoor.Presenter { .init(app: app, network: network) }
}

/// A proof with the statement of its store, before its redemption.
package final class PresentedProof: Sendable {
    package let request: RedemptionRequest
    package let statement: RedemptionDoor.Statement

    init(_ request: RedemptionRequest, _ statement: RedemptionDoor.Statement) {
        (self.request, self.statement) = (request, statement)
    }
}

/// The answer to a request to redeem a proof.
package enum RedemptionAnswer: Sendable {
    case decided(DecidedRedemption)
    /// The answer to an earlier request under the same idempotency key. Nothing was changed.
    case kept(KeptAnswer)

    /// The decision about a request without an idempotency key.
    ///
    /// - Throws: `BrokenInvariant` for a kept answer.
    package var decision: DecidedRedemption {
        get throws {
            switch self {
            case .decided(let decided): return decided
            case .kept(let answer):
                throw BrokenInvariant("only a request with an idempotency key has a kept answer", answer.key.key)
            }
        }
    }
}

/// The decision about the purchases of a proof.
package struct DecidedRedemption: Sendable {
    /// The results for the purchases, in the proof's order.
    package let lines: [Redemption.Line]
    /// The items of the user, with those that everybody owns; empty if the request is for none.
    package let items: [Item]

    /// - Parameter free: The items that everybody owns.
    init(of claims: [Claim], _ answer: LedgerAnswer, owningBesides free: [Item]) {
        lines = zip(claims, answer.results).map { claim, result in
            Redemption.Line(
                transactionId: claim.origin.statedIdentifier(claim.transactionIdentifier),
                productId: claim.productIdentifier, result: result)
        }
        items = answer.items.merged(with: free)
    }

    /// The result for the whole proof.
    ///
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    package var outcome: Redemption.Outcome {
        get throws(RedemptionError) {
            let results = lines.map(\.result)
            if results.isEmpty { return .nothingToRedeem }
            guard results.contains(where: \.allowsFinish) else {
                throw .purchaseRefused(Redemption.Result.refusals.first(where: results.contains) ?? .productUnknown)
            }
            if results.contains(.granted) { return .granted }
            if results.contains(.revoked) { return .revoked }
            return results.allSatisfy(\.allowsFinish) ? .unchanged : .partlyRefused
        }
    }

    /// The decision in its JSON form.
    ///
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    package var redemption: Redemption {
        get throws(RedemptionError) { Redemption(outcome: try outcome, transactions: lines, items: items) }
    }
}

extension [Item] {
    /// The items of both, each once, in order.
    fileprivate func merged(with others: [Item]) -> [Item] {
        (self + others.filter { !contains($0) }).sorted()
    }
}
