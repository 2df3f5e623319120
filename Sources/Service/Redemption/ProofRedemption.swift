import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Vocabulary

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
    /// The client network against which questions to Google Play count; nil for a back end.
    private let network: ClientNetwork?
    private let recordsRefusals: Bool

    /// - Parameters:
    ///   - app: The bundle identifier of the only app whose proofs the caller may send; nil for that of the caller.
    ///   - googlePlay: The apps on Google Play about whose purchases the service asks.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit. Beyond it, a refusal is not recorded.
    ///   - network: The client network of an app; nil for a back end, and for that of the allowance.
    ///   - recordsRefusals: False if refusals are only counted.
    init(
        by caller: Caller,
        _ service: EntitlementService,
        _ metrics: ServiceMetrics,
        of app: String? = nil,
        asking googlePlay: GooglePlayApps = [],
        newcomers: NewcomerAllowance? = nil,
        at network: ClientNetwork? = nil,
        recordsRefusals: Bool = true
    ) {
        self.service = service.limited(to: caller.limitingApp)
        self.metrics = metrics
        self.googlePlay = googlePlay
        actor = caller.actor
        self.app = app ?? caller.app
        self.newcomers = newcomers
        self.network = network ?? newcomers?.network
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
            let presented = try await presented(proof)
            let answer = try await ledgerAnswer(to: presented, user, keeping)
            if case .kept(let earlier) = answer { return .kept(earlier) }
            let redemption = try service.redemption(of: presented.purchases, answered: answer)
            metrics.count(.redemptions, redemption.outcome.rawValue)
            return .redeemed(redemption)
        }
    }

    /// Redeems a proof, and returns the results for its purchases in the proof's order, even if none of them is the user's.
    ///
    /// - Parameter presented: The result of `present`.
    /// - Throws: `RedemptionError` if the proof itself is refused.
    func lines(of presented: Presented, for user: User) async throws -> [Redemption.Line] {
        let answer = try await recordingRefusal(of: presented.proof, for: user) {
            try await ledgerAnswer(to: presented, user, withItems: false)
        }
        do throws(RedemptionError) {
            metrics.count(.redemptions, try service.outcome(answered: answer).rawValue)
        } catch {
            // The lines have the reason of each refusal.
            metrics.count(.redemptions, "refused", code: error.code)
        }
        return try service.lines(of: presented.purchases, answered: answer)
    }

    /// A proof with its purchases, before a redemption.
    ///
    /// A class, for the same reason as the redemption.
    final class Presented: Sendable {
        let proof: [UInt8]
        let purchases: EntitlementService.VerifiedPurchases
        /// Nil if Google Play has stated the purchases.
        let verified: VerifiedProof?
        /// The purchase token of the proof, which its sender knows; nil for another proof.
        let purchaseToken: String?
        /// The names of purchase tokens; nil for a proof without one.
        private let names: PurchaseTokenNames?
        /// The statement of Google Play about an app; nil if none was asked for, or the ledger alone knows the purchases.
        fileprivate let stated: (app: GooglePlayApp, statement: GooglePlayStatement)?

        fileprivate init(
            _ proof: [UInt8], _ purchases: EntitlementService.VerifiedPurchases, _ verified: VerifiedProof?,
            named names: PurchaseTokenNames? = nil, token: String? = nil,
            _ stated: (app: GooglePlayApp, statement: GooglePlayStatement)? = nil
        ) {
            (self.proof, self.purchases, self.verified, self.stated) = (proof, purchases, verified, stated)
            (self.names, purchaseToken) = (names, token ?? verified?.signedPurchase?.purchaseToken)
        }

        var origin: Origin { verified?.origin ?? purchases.origin }

        /// The purchases, as the proof or Google Play states them, with the ledger's identifiers.
        var proven: [ProvenPurchase] { verified?.purchases(named: names) ?? purchases.proven }
    }

    /// Verifies a proof of a purchase, or asks Google Play about it, without redeeming it.
    ///
    /// - Parameter user: The user for whom a refusal is recorded; nil if only the proof can tell.
    /// - Throws: `RedemptionError` if the proof is refused, or is of no purchase; `PlayDeveloperError` if Google Play does not know the
    ///   purchase, or cannot be asked now.
    func present(_ proof: [UInt8], for user: User?) async throws -> Presented {
        try await recordingRefusal(of: proof, for: user) { try await presented(proof) }
    }

    private func ledgerAnswer(
        to presented: Presented,
        _ user: User,
        _ keeping: Keeping? = nil,
        withItems: Bool = true
    ) async throws -> ClaimAnswer {
        let purchases = presented.purchases
        let kept = keeping.map { keeping in
            service.keeping(keeping.key) { [service] answer in
                try? keeping.answer(service.redemption(of: purchases, answered: answer))
            }
        }
        let request = try service.request(
            purchases, for: user, by: actor, keeping: kept, newcomers: newcomers, withItems: withItems)
        let answer = try await service.answer(request)
        if let stated = presented.stated {
            await stated.app.refreshReplaced(by: stated.statement, on: .presentation(from: network), within: .person)
        }
        return answer
    }

    /// The purchases of a proof, by its signature, or by the statement of Google Play if the service may ask about its app.
    private func presented(_ proof: [UInt8]) async throws -> Presented {
        if !googlePlay.isEmpty, let token = try GooglePlayToken.presented(as: proof) {
            let app = try googlePlay.app(named: token.packageName, among: service.limitingApp ?? app)
            return try await presented(proof, token.purchaseToken, of: app)
        }
        let names = try await service.tokenNames(for: proof)
        let (signed, presented) = try await BlockingWork.process(proof.count) { [service, app, googlePlay] in
            let verified = try service.verify(proof, of: app)
            if let signed = verified.signedPurchase, googlePlay[package: signed.packageName] != nil {
                return (signed as GooglePlayPurchase?, nil as Presented?)
            }
            let purchases = try service.purchases(of: verified, in: proof, named: names)
            return (nil, Presented(proof, purchases, verified, named: names))
        }
        if let presented { return presented }
        guard let signed, let app = googlePlay[package: signed.packageName] else { throw RedemptionError.notRedeemable }
        return try await self.presented(proof, signed.purchaseToken, of: app)
    }

    private func presented(_ proof: [UInt8], _ token: String, of app: GooglePlayApp) async throws -> Presented {
        let (purchases, statement) = try await app.presented(token, from: network)
        return Presented(proof, purchases, nil, token: token, statement.map { (app, $0) })
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
                let names = try? await service.tokenNames(for: proof)
                return
                    (try? await BlockingWork.process(proof.count) { [service] in
                        service.claims(ofAuthentic: proof, named: names)
                    }) ?? []
            }
            throw error
        }
    }
}

extension ServiceContext {
    /// The client network of an app, with whichever credential, against which questions to Google Play count; nil for a back end.
    func appNetwork(of request: Request) -> ClientNetwork? {
        if case .backEnd = caller { nil } else { clientNetwork(of: request) }
    }
}

extension GooglePlayToken {
    /// The purchase token that a caller presents instead of a proof; nil for a proof.
    static func presented(as proof: [UInt8]) throws(RedemptionError) -> GooglePlayToken? {
        do { return try GooglePlayToken(json: proof) } catch { throw .refused(error) }
    }
}
