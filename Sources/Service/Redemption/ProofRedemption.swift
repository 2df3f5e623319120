import Features
import HTTPSupport
import Ledger
import Proofs

/// The redemption of proofs that a caller presents, the same at every route and door: it verifies a proof, or asks Google Play about
/// a purchase, requests its purchases, counts the result, and records the refusal of an authentic proof.
///
/// A class: Swift 6.3.1 crashes while it compiles a closure that keeps a copy as wide as these parts while it waits.
final class ProofRedemption: Sendable {
    private let service: EntitlementService
    private let metrics: ServiceMetrics
    private let googlePlay: GooglePlayApps
    private let actor: AuditActor
    private let app: String?
    private let newcomers: NewcomerAllowance?
    private let recordsRefusals: Bool

    /// - Parameters:
    ///   - app: The bundle identifier of the only app whose proofs the caller may send; nil for that of the caller.
    ///   - googlePlay: The apps on Google Play about whose purchases the service asks.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit. Beyond it, a refusal is not recorded.
    ///   - recordsRefusals: False if refusals are only counted.
    init(
        by caller: Caller,
        _ service: EntitlementService,
        _ metrics: ServiceMetrics,
        of app: String? = nil,
        asking googlePlay: GooglePlayApps = GooglePlayApps(),
        newcomers: NewcomerAllowance? = nil,
        recordsRefusals: Bool = true
    ) {
        self.service = service.limited(to: caller.limitingApp)
        self.metrics = metrics
        self.googlePlay = googlePlay
        actor = caller.actor
        self.app = app ?? caller.app
        self.newcomers = newcomers
        self.recordsRefusals = recordsRefusals
    }

    /// The result of a redemption under an idempotency key.
    enum Answer: Sendable {
        case redeemed(Redemption)
        /// The answer to an earlier request under the same key. Nothing was changed.
        case kept(KeptAnswer)
    }

    /// The idempotency key of a request, with the answer to keep under it for a redemption.
    typealias Keeping = (key: IdempotencyKey, answer: @Sendable (Redemption) throws -> KeptAnswer)

    /// Redeems a proof: an app receipt in base64 or DER, a signed transaction, or a signed purchase or a purchase token of Google Play.
    ///
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    func redeem(_ proof: [UInt8], for user: User, keeping: Keeping? = nil) async throws -> Answer {
        try await recordingRefusal(of: proof, for: user) {
            let (purchases, answer) = try await ledgerAnswer(to: proof, nil, user, keeping)
            if case .kept(let earlier) = answer { return .kept(earlier) }
            let redemption = try service.redemption(of: purchases, answered: answer)
            metrics.count(.redemptions, redemption.outcome.rawValue)
            return .redeemed(redemption)
        }
    }

    /// Redeems a proof, and returns the results for its purchases in the proof's order, even if none of them is the user's.
    ///
    /// - Parameter verified: The result of `verify`; nil for a purchase token, which has no signature.
    /// - Throws: `RedemptionError` if the proof itself is refused; `PlayDeveloperError` if Google Play does not know the purchase, or
    ///   cannot be asked now.
    func lines(
        of proof: [UInt8], _ verified: VerifiedProof? = nil, for user: User
    ) async throws -> [Redemption.Line] {
        let (purchases, answer) = try await recordingRefusal(of: proof, for: user) {
            try await ledgerAnswer(to: proof, verified, user, withItems: false)
        }
        do throws(RedemptionError) {
            metrics.count(.redemptions, try service.outcome(answered: answer).rawValue)
        } catch {
            // The lines have the reason of each refusal.
            metrics.count(.redemptions, "refused", code: error.code)
        }
        return try service.lines(of: purchases, answered: answer)
    }

    /// Verifies a proof of a purchase without redeeming it.
    ///
    /// - Parameter user: The user for whom a refusal is recorded; nil if only the proof can tell.
    /// - Throws: `RedemptionError` if the proof is refused, or is of no purchase.
    func verify(_ proof: [UInt8], for user: User?) async throws -> VerifiedProof {
        try await recordingRefusal(of: proof, for: user) {
            let verified = try await BlockingWork.process(proof.count) { [service, app] in
                try service.verify(proof, of: app)
            }
            guard verified.purchases != nil else { throw RedemptionError.notRedeemable }
            return verified
        }
    }

    private func ledgerAnswer(
        to proof: [UInt8],
        _ verified: VerifiedProof?,
        _ user: User,
        _ keeping: Keeping? = nil,
        withItems: Bool = true
    ) async throws -> (EntitlementService.VerifiedPurchases, ClaimAnswer) {
        let (purchases, stated) = try await presented(proof, verified)
        let kept = keeping.map { keeping in
            service.keeping(keeping.key) { [service] answer in
                try? keeping.answer(service.redemption(of: purchases, answered: answer))
            }
        }
        let request = try service.request(
            purchases, for: user, by: actor, keeping: kept, newcomers: newcomers, withItems: withItems)
        let answer = try await service.answer(request)
        if let stated { await stated.app.refreshReplaced(by: stated.statement, within: .person) }
        return (purchases, answer)
    }

    /// A statement of Google Play about an app.
    private typealias Stated = (app: GooglePlayApp, statement: GooglePlayStatement)

    /// The purchases of a proof, by its signature, or by the statement of Google Play if the service may ask about its app.
    private func presented(
        _ proof: [UInt8], _ verified: VerifiedProof?
    ) async throws -> (EntitlementService.VerifiedPurchases, Stated?) {
        if !googlePlay.all.isEmpty, let token = try Self.token(proof) {
            let app = try googlePlay.app(of: token, among: service.limitingApp ?? app)
            return try await presented(token.purchaseToken, of: app)
        }
        let (signed, purchases) = try await BlockingWork.process(proof.count) { [service, app, googlePlay] in
            let verified = try verified ?? service.verify(proof, of: app)
            let signed = verified.signedPurchase
            let asked = signed.flatMap { googlePlay[package: $0.packageName] }
            return (signed, asked == nil ? try service.purchases(of: verified, in: proof) : nil)
        }
        if let purchases { return (purchases, nil) }
        guard let signed, let app = googlePlay[package: signed.packageName] else { throw RedemptionError.notRedeemable }
        return try await presented(signed.purchaseToken, of: app)
    }

    private func presented(
        _ token: String, of app: GooglePlayApp
    ) async throws -> (EntitlementService.VerifiedPurchases, Stated?) {
        let (purchases, statement) = try await app.presented(token)
        return (purchases, statement.map { (app, $0) })
    }

    private static func token(_ proof: [UInt8]) throws(RedemptionError) -> GooglePlayToken? {
        do { return try GooglePlayToken(json: proof) } catch { throw .refused(error) }
    }

    private func recordingRefusal<Value>(
        of proof: [UInt8],
        for user: User?,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            metrics.count(.redemptions, "refused", code: Problem.code(of: error))
            guard recordsRefusals, let user else { throw error }
            // The client gets the refusal even if it cannot be recorded.
            try? await service.recordRefusal(error, for: user, by: actor, newcomers: newcomers) {
                (try? await BlockingWork.process(proof.count) { [service] in service.claims(ofAuthentic: proof) }) ?? []
            }
            throw error
        }
    }
}
