import Catalog
import Foundation
import Ledger
import Proofs
import Vocabulary

/// The one door to a purchase, the same for every caller: a store verifies the proof or is asked, the ledger decides, the result is
/// counted, and the refusal of an authentic proof is recorded.
package final class RedemptionDoor: Sendable {
    package let entitlements: EntitlementService
    private let stores: [any Store]
    private let onRedemption: @Sendable (Result<Redemption.Outcome, any Error>) -> Void
    private let onLostRefusal: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - stores: The stores besides those whose proofs a signature proves, in the order in which they look at a proof.
    ///   - onRedemption: Receives each outcome or refusal. A kept answer is none.
    ///   - onLostRefusal: Receives the reason why a refusal could not be recorded.
    package init(
        _ entitlements: EntitlementService, stores: [any Store] = [],
        onRedemption: @escaping @Sendable (Result<Redemption.Outcome, any Error>) -> Void = { _ in },
        onLostRefusal: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        (self.entitlements, self.onRedemption, self.onLostRefusal) = (entitlements, onRedemption, onLostRefusal)
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
        let presented = try await reportingRefusal(of: request, for: request.user) {
            PresentedProof(request, try await statement(about: request))
        }
        guard let refusal = presented.statement.refusal else { return presented }
        return try await reportingRefusal(
            of: request, for: request.user, refusing: presented.statement.claims.claims
        ) {
            throw RedemptionError.refused(refusal)
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
    ///
    /// - Parameter claims: The refused purchases; none for those of the proof.
    private func reportingRefusal<Value>(
        of request: RedemptionRequest, for user: User?, refusing claims: [Claim] = [], _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            if request.refusals != .ignored { onRedemption(.failure(error)) }
            if request.refusals == .recorded, let user {
                do { try await record(error, of: request, claims, for: user) } catch { onLostRefusal(error) }
            }
            throw error
        }
    }

    /// Records the refusal of an authentic proof, which support explains by it. Other refusals are only counted.
    private func record(
        _ error: any Error, of request: RedemptionRequest, _ claims: [Claim], for user: User
    ) async throws {
        guard case .refused(let refusal)? = error as? RedemptionError, refusal.reason.step == .appAndOrigin else {
            return
        }
        var claims = claims
        for store in stores where claims.isEmpty { claims = try await store.claims(ofRefused: request.proof) }
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
    /// The items of both, each once, in order, in which these are.
    fileprivate func merged(with others: [Item]) -> [Item] {
        let others = others.filter { !contains($0) }
        return others.isEmpty ? self : (self + others).sorted()
    }
}

extension RedemptionDoor {
    /// A store whose purchases the service redeems: it verifies a proof by its signature, or the service asks it.
    ///
    /// The door offers a proof to its stores in their order, and the first one that knows it states its purchases. A later statement of
    /// a store (a notification, or the answer of a scheduled question) goes to the owners by `EntitlementService.outcomes(ofStated:)`.
    package protocol Store: Sendable {
        /// Looks at a proof without asking the store. A proof with a signature is believed no sooner than the signature holds.
        ///
        /// - Throws: `RedemptionError` for a proof of this store that is refused; `StorageFault`.
        func verify(_ proof: [UInt8], from presenter: Presenter) async throws -> Verification

        /// Asks the store about a purchase.
        ///
        /// - Parameter question: The one that `verify` has returned.
        /// - Throws: `RedemptionError` for a purchase that gives nothing now; a `RuledError` of the store's client, for a store that
        ///   does not know the purchase or cannot be asked now.
        func ask(_ question: Question, from presenter: Presenter) async throws -> Statement

        /// The first purchases of an authentic proof that is refused for its app or origin; none for another proof.
        ///
        /// - Throws: `StorageFault`.
        func claims(ofRefused proof: [UInt8]) async throws -> [Claim]
    }

    /// The presenter of a proof, as far as a store limits by it.
    package struct Presenter: Sendable {
        /// The bundle identifier of the only app whose proofs the caller may send; nil for all apps.
        package let app: String?
        /// The network of a stranger, against which questions to a store count; nil for another caller.
        package let network: ClientNetwork?

        package init(app: String? = nil, network: ClientNetwork? = nil) {
            (self.app, self.network) = (app, network)
        }
    }

    /// The result of a look at a proof.
    package enum Verification: Sendable {
        /// The proof has the form of another store's.
        case foreign
        /// The proof states its purchases.
        case stated(Statement)
        /// Only the store knows the purchases.
        case unstated(Question)
    }

    /// A purchase about which a store is asked, in the words of the store.
    package struct Question: Sendable {
        /// The name of the app at the store; nil for the only one.
        package let app: String?
        /// The identifier of the purchase, such as a purchase token.
        package let identifier: String

        package init(app: String?, identifier: String) {
            (self.app, self.identifier) = (app, identifier)
        }
    }

    /// The statement of a store about the purchases of a proof.
    ///
    /// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
    package final class Statement: Sendable {
        /// The claims of the purchases, which the decision takes, or a later statement states to the owners.
        package let claims: EntitlementService.VerifiedPurchases
        /// The purchases, with the ledger's identifiers.
        package let purchases: [ProvenPurchase]
        /// The proof that has stated them; nil if the store has, or the ledger.
        package let signed: VerifiedProof?
        /// The answer of Google Play; nil for another statement.
        package let googlePlay: GooglePlayStatement?
        /// The secret that stands for the purchase at the store, which the sender of the proof knows; nil for none.
        package let purchaseToken: String?
        /// The refusal of the purchases, which are authentic; nil to decide about them.
        let refusal: ProofRefusal?
        /// The store's work once the purchases are decided.
        let finish: @Sendable () async -> Void

        package var origin: Origin { claims.origin }

        /// - Parameters:
        ///   - purchases: Nil for those of the claims.
        ///   - refusal: The refusal of the purchases; nil to decide about them.
        ///   - finish: Performs the store's work once the purchases are decided, such as the end of those that they replace. It
        ///     fails in silence: the next question of the service does it, too.
        package init(
            _ claims: EntitlementService.VerifiedPurchases, stating purchases: [ProvenPurchase]? = nil,
            signed: VerifiedProof? = nil, googlePlay: GooglePlayStatement? = nil, purchaseToken: String? = nil,
            refusal: ProofRefusal? = nil, finish: @escaping @Sendable () async -> Void = {}
        ) {
            (self.claims, self.signed, self.googlePlay) = (claims, signed, googlePlay)
            (self.purchaseToken, self.refusal, self.finish) = (purchaseToken, refusal, finish)
            self.purchases = purchases ?? claims.proven
        }
    }
}

extension RedemptionDoor.Store {
    /// The answer of a store whose proofs state all that there is to know.
    package func ask(
        _ question: RedemptionDoor.Question, from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Statement { throw RedemptionError.notRedeemable }

    package func claims(ofRefused proof: [UInt8]) async throws -> [Claim] { [] }
}

/// A purchase that a store states, in the facts of all stores.
package struct StoredPurchase: Sendable {
    package let purchase: ProvenPurchase
    /// The statement about the renewal; nil for a purchase that does not renew.
    package let renewal: StatedRenewal?
    /// The original transaction of another purchase of the same statement, whose owner has this one, too; nil if there is none.
    package let chain: String?
    /// True if the end of the paid time is not stated, so that a known one stays.
    package let keepsEnd: Bool

    package init(
        _ purchase: ProvenPurchase, renewal: StatedRenewal? = nil, chain: String? = nil, keepsEnd: Bool = false
    ) {
        (self.purchase, self.renewal, self.chain, self.keepsEnd) = (purchase, renewal, chain, keepsEnd)
    }
}

extension EntitlementService {
    /// The purchases that a store states, by the catalog of their app.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the app.
    ///   - number: The number of the question that the statement answers, later than those of earlier ones; 0 for a signed statement,
    ///     of which the date decides.
    ///   - digest: The SHA-256 of the statement.
    package func purchases(
        _ stated: [StoredPurchase], of app: String, from origin: Origin, statedAt: Timestamp, number: Int64 = 0,
        digest: [UInt8]
    ) -> VerifiedPurchases {
        let claims = ProofClaims(
            of: app, by: apps[app]?.catalog, from: origin, statedAt: statedAt, number: number, digest: digest)
        return VerifiedPurchases(
            origin: origin,
            claims: stated.map { stated in
                var renewal = stated.renewal
                renewal?.statementNumber = number
                return claims.claim(
                    stated.purchase, renewal: renewal, chain: stated.chain, keepsEnd: stated.keepsEnd)
            })
    }
}

/// The stores whose proofs a signature proves: the App Store, Xcode and local stores, and Google Play where the service may not ask it.
package struct SignedProofs: RedemptionDoor.Store {
    /// The largest number of purchases of one proof whose refusal is recorded.
    private static let maximumRefusals = 10

    private let service: EntitlementService

    package init(_ service: EntitlementService) { self.service = service }

    package func verify(
        _ proof: [UInt8], from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Verification {
        let names = try await service.tokenNames(for: proof)
        return .stated(
            try await WorkThreads.process(proof.count) { [service] in
                try service.statement(of: try service.verify(proof, of: presenter.app), in: proof, named: names)
            })
    }

    package func claims(ofRefused proof: [UInt8]) async throws -> [Claim] {
        let names = try await service.tokenNames(for: proof)
        do {
            return try await WorkThreads.process(proof.count) { [service] in
                let ofAnyone = ProofExpectations(bundleIdentifier: nil, origins: Set(Origin.allCases))
                let verified = try service.verifier.verify(proof, expecting: ofAnyone)
                guard verified.signedPurchase == nil || names != nil else { return [] }
                let claims = try service.claims(verified, proof)
                return (verified.purchases(named: names) ?? []).prefix(Self.maximumRefusals).map { claims.claim($0) }
            }
        } catch is ProofRefusal {
            return []
        } catch is RedemptionError {
            return []
        }
    }
}

extension EntitlementService {
    /// The statement of a verified proof. It uses the processor, not the ledger.
    ///
    /// - Parameters:
    ///   - proof: The signed bytes.
    ///   - names: The result of `tokenNames(for:)`.
    package func statement(
        of verified: VerifiedProof, in proof: [UInt8], named names: PurchaseTokenNames?
    ) throws(RedemptionError) -> RedemptionDoor.Statement {
        guard verified.signedPurchase == nil || names != nil, let purchases = verified.purchases(named: names) else {
            throw .notRedeemable
        }
        // A subscription without an end would be granted for ever, or for no time.
        let isSubscription = { apps.type(of: $0) == ProductType.autoRenewableSubscription }
        guard verified.statesEnds || !purchases.map(\.productIdentifier).contains(where: isSubscription) else {
            throw .subscriptionStateUnknown
        }
        let claims = try claims(verified, proof)
        let sold = verified.signedPurchase == nil ? purchases : purchases.map(claims.rented)
        // The products of one token are of one owner.
        let siblings = verified.signedPurchase == nil ? [] : sold.map(\.originalTransactionIdentifier)
        let stated = VerifiedPurchases(
            origin: verified.origin,
            claims: sold.map { purchase in
                let others = siblings.filter { !$0.hasSameBytes(as: purchase.originalTransactionIdentifier) }
                // A catalog that rents a product now ends nothing that was sold for good.
                return claims.claim(
                    purchase, chain: others.first, keepsEnd: purchase.facts.bool(.isRental) == true)
            })
        return .init(
            stated, stating: sold, signed: verified, purchaseToken: verified.signedPurchase?.purchaseToken)
    }
}

/// The claims of a verified proof, or of a store's statement, by a catalog.
struct ProofClaims {
    private let app: String
    /// Nil for an app that the service does not sell.
    private let catalog: Catalog?
    let origin: Origin
    private let statedAt: Timestamp
    /// The number of the question that a store has answered; 0 for a proof.
    private let statementNumber: Int64
    private let digest: [UInt8]
    /// Nil for a statement without a signature.
    private let fingerprints: VerifiedProof.Fingerprints?
    private let kept: KeptProof?

    /// - Parameters:
    ///   - proof: The signed bytes.
    ///   - app: The bundle identifier of its app.
    ///   - isKept: True to store the signed bytes.
    init(of verified: VerifiedProof, _ proof: [UInt8], app: String, by catalog: Catalog?, isKept: Bool) {
        self.app = app
        self.catalog = catalog
        origin = verified.origin
        statedAt = verified.notifiedTransaction?.signedDate ?? verified.signedAt
        statementNumber = 0
        // A notification's claim is about the signed transaction inside it.
        let part = verified.notifiedTransactionProof
        digest = part?.digest ?? verified.digest
        fingerprints = part?.fingerprints ?? verified.fingerprints
        kept = isKept ? KeptProof(part.map { Array($0.compact.utf8) } ?? proof, digest: digest) : nil
    }

    /// The claims of a store's statement, of which the service keeps no signature.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of its app.
    ///   - number: The number of the question that the statement answers.
    init(
        of app: String, by catalog: Catalog?, from origin: Origin, statedAt: Timestamp, number: Int64, digest: [UInt8]
    ) {
        self.app = app
        self.catalog = catalog
        self.origin = origin
        (self.statedAt, statementNumber) = (statedAt, number)
        self.digest = digest
        (fingerprints, kept) = (nil, nil)
    }

    /// The claim of one purchase in the proof.
    ///
    /// - Parameters:
    ///   - renewal: The statement about the renewal of the subscription; nil if there is none.
    ///   - chain: The original transaction of another purchase under the same token; nil if there is none.
    ///   - keepsEnd: True if the end of the paid time is not stated.
    func claim(
        _ purchase: ProvenPurchase, renewal: StatedRenewal? = nil, chain: String? = nil, keepsEnd: Bool = false
    ) -> Claim {
        let benefit = catalog?.benefit(of: purchase.productIdentifier)?.rented(purchase.facts)
        var claim = Claim(
            app: app,
            origin: origin,
            transactionIdentifier: purchase.transactionIdentifier,
            originalTransactionIdentifier: purchase.originalTransactionIdentifier,
            // A migrated subscription goes on, whether an account token names its owner or not.
            chainTransactionIdentifier: chain ?? purchase.facts.text(.previousOriginalTransactionId),
            productIdentifier: purchase.productIdentifier,
            quantity: purchase.quantity,
            purchaseDate: purchase.purchaseDate,
            revocationDate: purchase.revocationDate,
            revocationReason: purchase.revocationReason,
            repeatsOriginal: catalog?.product(purchase.productIdentifier)?.type == .nonConsumable,
            signedAt: statedAt,
            statementNumber: statementNumber,
            appAccountToken: purchase.appAccountToken,
            proofDigest: digest, proof: kept, fingerprints: fingerprints,
            item: benefit?.item, credit: benefit?.credit,
            expiresAt: benefit?.end(
                from: purchase.purchaseDate, ofUnits: purchase.quantity, paidUntil: purchase.expiresDate),
            period: benefit?.period(ofUnits: purchase.quantity),
            grace: renewal.flatMap { grace($0, of: purchase) }, facts: purchase.facts, renewal: renewal)
        claim.keepsEnd = keepsEnd
        return claim
    }

    /// A purchase that Google Play has signed, until the end of the rental that the catalog states. The signature says that a product was
    /// bought, and neither that it is rented nor until when (`RentOfferDetails`, which only the API states, has no members).
    func rented(_ purchase: ProvenPurchase) -> ProvenPurchase {
        catalog?.rentalPeriod(of: purchase.productIdentifier).map(purchase.rented) ?? purchase
    }

    /// The statement about a grace period; nil if the renewal says nothing of it.
    ///
    /// The App Store names no grace period that is over: neither while it tries to charge, nor when it has given up, nor of a
    /// period that it takes back. That ends no grace period before its time.
    private func grace(_ renewal: StatedRenewal, of purchase: ProvenPurchase) -> Claim.Grace? {
        let (facts, store) = (renewal.facts, origin.store)
        let order = store.statesRenewalByItself ? renewal.order : nil
        if let end = facts.date(.gracePeriodExpiresDate) { return Claim.Grace(endsAt: end, order: order) }
        // The last word of such a store counts: on hold, paused and expired end a grace period at once (lifecycle/subscriptions).
        if store.statesEndOfGracePeriod { return .over(at: renewal.statedAt) }
        let isBillingError = facts.integer(.expirationIntent) == Int64(ExpirationIntent.billingError.rawValue)
        let saysNothing =
            isBillingError || facts.bool(.isInBillingRetryPeriod) == true || purchase.revocationDate != nil
        return saysNothing ? nil : Claim.Grace(endsAt: nil, order: order)
    }
}

/// The error of a redemption. Nothing of the proof was redeemed.
package enum RedemptionError: RuledError, Equatable {
    case refused(ProofRefusal)
    /// The proof is authentic, but not of a purchase.
    case notRedeemable
    /// The proof is authentic, but not a notification.
    case noNotification
    /// The ledger refuses every purchase of the proof. The first reason of `Redemption.Result.refusals` is stated.
    case purchaseRefused(Redemption.Result)
    /// The proof is authentic, but only the store knows if its subscription is paid.
    case subscriptionStateUnknown
    /// Google Play has stated that the purchase of a token gives nothing now, such as one whose payment was canceled.
    case purchaseNotOwned
    /// The account is unknown, or was erased.
    case userUnknown
    /// The name stands for no user.
    case userBlocked

    package var rule: ErrorRule {
        switch self {
        case .refused(let refusal): refusal.rule
        case .notRedeemable:
            ErrorRule(
                "notRedeemable", .unprocessable,
                "The proof is authentic, but not of a purchase. Send an app receipt or a signed transaction.",
                korean: "증명은 진짜지만 구매의 증명이 아닙니다. 앱 영수증이나 서명된 거래를 보내세요.")
        case .noNotification:
            ErrorRule(
                "noNotification", .unprocessable,
                "The proof is authentic, but not a notification of the App Store. Send purchases to the user's "
                    + "transactions.",
                korean: "증명은 진짜지만 App Store의 알림이 아닙니다.")
        case .purchaseRefused(let result): result.rule
        case .subscriptionStateUnknown:
            ErrorRule(
                "subscriptionStateUnknown", .conflict, isOfOperator: true,
                "The signature is valid, but only Google Play knows if the subscription is paid, and the service has no service "
                    + "account with which it could ask. Nothing was granted. Do not acknowledge the purchase.",
                korean: "서명은 유효하지만 구독이 결제되었는지는 Google Play만 알며, 서비스에는 물어볼 서비스 계정이 없습니다. "
                    + "아무것도 지급되지 않았습니다. 구매를 확인(acknowledge)하지 마세요.")
        case .purchaseNotOwned:
            ErrorRule(
                "purchaseNotOwned", .conflict, mayRetry: true,
                "Google Play states that the purchase gives nothing now: its payment was canceled, or its product is not owned yet. "
                    + "Nothing was granted. Send the token again when Google Play reports the purchase as paid.",
                korean: "Google Play에 따르면 이 구매는 지금 아무것도 주지 않습니다. 결제가 취소되었거나 상품이 아직 고객의 것이 아닙니다. 아무것도 지급되지 않았습니다. "
                    + "Google Play가 구매 완료를 알리면 토큰을 다시 보내세요.")
        case .userUnknown: LedgerError.userUnknown.rule
        case .userBlocked: LedgerError.userBlocked.rule
        }
    }
}

extension ErrorRule {
    /// The rule of a refused proof or purchase.
    ///
    /// - Returns: Nil for the code of another error.
    package init?(refusal code: String) {
        guard let rule = Redemption.Result(rawValue: code)?.rule ?? ProofRefusal.Reason(rawValue: code)?.rule else {
            return nil
        }
        self = rule
    }
}

extension RefusalRemedy {
    /// - Parameter code: The code of a refusal.
    /// - Returns: Nil for another code.
    package init?(code: String) {
        guard let remedy = ErrorRule(refusal: code)?.remedy else { return nil }
        self = remedy
    }
}

/// A refused claim of a user.
struct Refusal: Hashable {
    let user: Int64
    let key: TransactionKey
    let result: String
}

extension Refusal {
    init(_ user: Int64, _ claim: Claim, _ result: Redemption.Result) {
        self.init(user: user, key: claim.key, result: result.rawValue)
    }
}

/// The SQL of refusals, inside the caller's transaction.
struct RefusalRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The maximum number of recorded refusals of a user, because a user may send any number of other people's proofs.
    static let maximumOfUser = 1000

    /// The refusals that were recorded before.
    struct Known {
        fileprivate var refusals: Set<Refusal> = []
        /// The counts by the user.
        fileprivate var counts: [Int64: Int] = [:]

        /// Adds a refusal.
        ///
        /// - Returns: True if it is new, and within the limit of the user.
        mutating func insert(_ refusal: Refusal) -> Bool {
            guard counts[refusal.user, default: 0] < maximumOfUser, refusals.insert(refusal).inserted else {
                return false
            }
            counts[refusal.user, default: 0] += 1
            return true
        }
    }

    func known(among refusals: [Refusal]) throws -> Known {
        var known = Known()
        guard !refusals.isEmpty else { return known }
        let rows = database.keyedRows(
            of: "refusal", where: ["user_id", "transaction_id"],
            SQLKeys(packed: refusals.map { ($0.user, [$0.key.identifier]) }))
        try database.forEachRow(
            """
            SELECT user_id, 0, transaction_id, origin, app, reason FROM \(rows.source) WHERE \(rows.condition)
            UNION ALL
            SELECT user_id, count(*), NULL, NULL, NULL, NULL FROM refusal
            WHERE user_id \(database.isIn(numbers: rows.nextParameter))
            GROUP BY user_id
            """,
            rows.arguments + [database.list(Set(refusals.map(\.user)).sorted())]
        ) { row in
            let (user, count): (Int64, Int) = (try row.next(), try row.next())
            if count > 0 {
                known.counts[user] = count
            } else {
                known.refusals.insert(Refusal(user: user, key: try apps.key(&row), result: try row.next()))
            }
        }
        return known
    }

    func insert(_ refusals: [Refusal]) throws {
        guard !refusals.isEmpty else { return }
        try database.insert(
            into: "refusal", ["user_id"] + Table.transactionKey + ["reason"],
            refusals.map { [$0.user] + $0.key.sqlValues(apps) + [$0.result] })
    }
}

extension LedgerTransaction {
    /// Records refused purchases of an authentic proof, once for each user, transaction and code, up to the user's limit.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the service's app. A refused proof of another app has no app in the ledger.
    ///   - named: The apps that the events name. The event of another app's purchase belongs to no app.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    package func recordRefusal(
        _ code: String,
        of claims: [Claim],
        in app: String,
        naming named: [String] = [],
        for user: User,
        by actor: AuditActor,
        newcomers: NewcomerAllowance? = nil,
        at moment: Timestamp
    ) throws {
        let knownNumber = try users.known(user)
        if knownNumber == nil, let newcomers {
            let bytes = NewcomerAllowance.bytes(ofUserNamed: user) + claims.count * NewcomerAllowance.bytesOfRefusal
            guard newcomers.take(bytes) == nil else { return }
        }
        let number = try number(of: user, at: moment)
        func refusal(_ claim: Claim) -> Refusal {
            let key = TransactionKey(app: app, origin: claim.origin, identifier: claim.transactionIdentifier)
            return Refusal(user: number, key: key, result: code)
        }
        let records = RefusalRecords(
            database: database, apps: try database.apps.numbers(of: [app]))
        var known = try records.known(among: claims.map(refusal))
        let new = claims.filter { known.insert(refusal($0)) }
        guard !new.isEmpty else { return }
        if knownNumber != nil {
            do {
                try charge(new.count * NewcomerAllowance.bytesOfRefusal, for: number, to: newcomers)
            } catch LedgerError.newcomersLimited { return }
        }
        try records.insert(new.map(refusal))
        try audit.append(
            new.map { claim in
                let entry = AuditEntry(
                    happenedAt: moment, event: .refused, actor: actor, origin: claim.origin,
                    app: named.first { $0.hasSameBytes(as: claim.app) }, reference: claim.transactionIdentifier,
                    subject: claim.productIdentifier, reason: code)
                return (entry, number)
            })
    }
}

extension EntitlementService {
    /// Records refused purchases of an authentic proof for the user who presents it.
    ///
    /// - Parameter newcomers: The caller's allowance for users without a purchase; nil for no limit.
    func recordRefusal(
        _ code: String, of refused: [Claim], for user: User, by actor: AuditActor, newcomers: NewcomerAllowance?
    ) async throws {
        guard !refused.isEmpty else { return }
        let (app, limit) = (apps.first.bundleIdentifier, limit)
        let own = apps.all.map(\.bundleIdentifier).filter { limit?.includes(app: $0) ?? true }
        try await ledger.write {
            try $0.recordRefusal(
                code, of: refused, in: app, naming: own, for: user, by: actor, newcomers: newcomers, at: clock.now())
        }
    }
}
