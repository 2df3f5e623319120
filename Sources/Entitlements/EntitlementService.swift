import Catalog
import Foundation
import Ledger
import Proofs
import Vocabulary

/// The service's use cases: redeem a proof, return the items of a user.
///
/// Each is one transaction of the ledger, so it happens completely or not at all.
package struct EntitlementService: Sendable {
    package let apps: Apps
    let verifier: ProofVerifier
    /// The record of all users and purchases.
    package let ledger: Ledger
    package let clock: any WallClock
    /// The same clock, if some customers may have their own.
    let customerClocks: (any CustomerClocks)?
    let randomness: Randomness
    /// The accepted origins, and the users they are valid for.
    package let accepted: AcceptedOrigins
    /// The names of all users, for the search.
    package let names: NameIndex
    /// The group commit of claims and statements. Waiting requests are decided together.
    package let claims: LedgerBatch<ClaimRequest, ClaimAnswer>
    /// True if the service stores the signed bytes of proofs.
    private let keepsProofs: Bool
    private let observers: Observers
    /// The bundle identifier of the only app that the caller of the use cases sees and changes; nil for all apps.
    package private(set) var limitingApp: String?

    /// - Parameters:
    ///   - accepted: The accepted origins, and the users they are valid for.
    ///   - policy: The policy for purchases of another user.
    ///   - erasedClaimDays: The days after the erasure of a purchase's owner from which on a proof is enough to own it.
    ///   - keepsProofs: True to store the signed bytes of proofs.
    ///   - onVerify: Receives the duration of each verification, and the fields that were read as absent because of their
    ///     form.
    ///   - onNotification: Receives each verified notification before it is applied, and the request that contains it.
    package init(
        apps: Apps,
        verifier: ProofVerifier,
        ledger: Ledger,
        clock: any WallClock,
        randomness: Randomness = .system,
        accepted: AcceptedOrigins = AcceptedOrigins(),
        policy: OwnershipPolicy = .keep,
        erasedClaimDays: Int64 = OwnershipPolicy.defaultErasedClaimDays,
        keepsProofs: Bool = false,
        onVerify: @escaping @Sendable (Duration, [String]) -> Void = { _, _ in },
        onNotification: (@Sendable (NotificationRecord, [UInt8]) async throws -> Void)? = nil
    ) {
        observers = Observers(onVerify: onVerify, onNotification: onNotification)
        self.keepsProofs = keepsProofs
        self.apps = apps
        self.verifier = verifier
        self.ledger = ledger
        self.clock = clock
        let customerClocks = clock as? any CustomerClocks
        self.customerClocks = customerClocks
        self.randomness = randomness
        self.accepted = accepted
        names = NameIndex(ledger: ledger, clock: clock)
        claims = ledger.batch(upTo: 128) { requests, transaction in
            try (customerClocks?.groups(of: requests) ?? [(clock.now(), requests)]).flatMap { moment, requests in
                try transaction.decide(
                    requests, under: policy, claimingErasedAfter: erasedClaimDays, accepting: accepted, at: moment
                ) { apps.type(of: $0) }
            }
        }
    }

    /// The same service for a caller who sees and changes only what belongs to one app.
    ///
    /// - Parameter app: The bundle identifier; nil for a caller of all apps.
    package func limited(to app: String?) -> EntitlementService {
        var service = self
        service.limitingApp = app
        return service
    }

    /// The limit of the caller now; nil for a caller of all apps.
    var limit: AppLimit? { limitingApp.flatMap { catalogs.limit(to: $0) } }

    /// The names that stand for no user.
    package var blockedNames: BlockedNames { ledger.blockedNames }

    /// The current catalogs.
    package var catalogs: Catalogs { apps.catalogs }

    /// The functions that learn of the service's work.
    private final class Observers: Sendable {
        let onVerify: @Sendable (Duration, [String]) -> Void
        let onNotification: (@Sendable (NotificationRecord, [UInt8]) async throws -> Void)?

        init(
            onVerify: @escaping @Sendable (Duration, [String]) -> Void,
            onNotification: (@Sendable (NotificationRecord, [UInt8]) async throws -> Void)?
        ) {
            self.onVerify = onVerify
            self.onNotification = onNotification
        }
    }

    /// Tells the observer of a verified notification.
    ///
    /// - Parameter body: The request with the notification.
    func observe(_ notification: NotificationRecord, body: [UInt8]) async throws {
        try await observers.onNotification?(notification, body)
    }

    /// Gives each app its number in the ledger.
    package func registerApps() async throws {
        try await ledger.write { transaction in
            for app in apps.all { try transaction.register(app: app.bundleIdentifier) }
        }
    }

    /// The purchases of a verified proof, or of a statement of Google Play, before the redemption.
    package struct VerifiedPurchases: Sendable {
        package let origin: Origin
        let claims: [Claim]
    }

    /// Redeems a proof for a user: an app receipt in base64 or DER, or a signed transaction.
    ///
    /// A second redemption changes nothing. A proof may have new purchases, known purchases and purchases of another user. Each
    /// gets its own result.
    ///
    /// - Parameter actor: The actor that presents the proof.
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    package func redeem(_ proof: [UInt8], for user: User, by actor: AuditActor = .user) async throws -> Redemption {
        let verified = try purchases(of: try verify(proof), in: proof, named: try await tokenNames(for: proof))
        let answer = try await answer(try request(verified, for: user, by: actor))
        return try redemption(of: verified, answered: answer)
    }

    /// The purchases of a proof that was verified, which is the first half of a redemption. It uses the processor, not the ledger.
    ///
    /// - Parameters:
    ///   - proof: The signed bytes.
    ///   - names: The result of `tokenNames(for:)`.
    package func purchases(
        of verified: VerifiedProof, in proof: [UInt8], named names: PurchaseTokenNames?
    ) throws(RedemptionError) -> VerifiedPurchases {
        guard verified.signedPurchase == nil || names != nil, let purchases = verified.purchases(named: names) else {
            throw .notRedeemable
        }
        // A subscription without an end would be granted for ever, or for no time.
        let isSubscription = { apps.type(of: $0) == ProductType.autoRenewableSubscription }
        guard verified.statesEnds || !purchases.map(\.productIdentifier).contains(where: isSubscription) else {
            throw .subscriptionStateUnknown
        }
        let claims = try claims(verified, proof)
        // The products of one token are of one owner.
        let siblings = verified.signedPurchase == nil ? [] : purchases.map(\.originalTransactionIdentifier)
        return VerifiedPurchases(
            origin: verified.origin,
            claims: purchases.map { purchase in
                let others = siblings.filter { !$0.hasSameBytes(as: purchase.originalTransactionIdentifier) }
                return claims.claim(purchase, chain: others.first)
            })
    }

    /// The request to redeem the purchases of a proof, which the second half answers in one transaction of the ledger.
    ///
    /// - Parameters:
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    ///   - withItems: False if only the results are used.
    /// - Throws: `RedemptionError` for a name that stands for no user, and for a proof from an origin that is not accepted for the
    ///   user.
    package func request(
        _ verified: VerifiedPurchases,
        for user: User,
        by actor: AuditActor,
        keeping: AnswerKeeping? = nil,
        newcomers: NewcomerAllowance? = nil,
        withItems: Bool = true
    ) throws(RedemptionError) -> ClaimRequest {
        guard !blockedNames.contains(user) else { throw .userBlocked }
        let origins = accepted.origins(for: user)
        guard origins.contains(verified.origin) else {
            throw .refused(
                ProofRefusal(
                    .originNotAccepted, "The proof's origin \(verified.origin.rawValue) is not accepted for this user.")
            )
        }
        return .redeem(
            verified.claims, for: user, accepting: origins, by: actor, keeping: keeping, seeing: limit,
            newcomers: newcomers, withItems: withItems)
    }

    /// The answer to store for 24 hours, in the commit of its claims.
    ///
    /// - Parameter make: Returns the bytes to store; nil stores nothing.
    package func keeping(
        _ key: IdempotencyKey,
        _ make: @escaping @Sendable (ClaimAnswer) -> KeptAnswer?
    ) -> AnswerKeeping {
        AnswerKeeping(key: key, oldest: clock.now().adding(days: -1), make: make)
    }

    /// The redemption in an answer.
    package func redemption(
        of verified: VerifiedPurchases,
        answered answer: ClaimAnswer
    ) throws(RedemptionError) -> Redemption {
        guard case .redeemed(let answer) = answer else { throw .userUnknown }
        return try Redemption(of: verified.claims, answer, owningBesides: view.free)
    }

    /// The results for the purchases of a proof, in its order, even if none of them is the user's.
    package func lines(
        of verified: VerifiedPurchases,
        answered answer: ClaimAnswer
    ) throws(RedemptionError) -> [Redemption.Line] {
        guard case .redeemed(let answer) = answer else { throw .userUnknown }
        return Redemption.lines(of: verified.claims, answer)
    }

    /// The result for the whole proof.
    ///
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    package func outcome(answered answer: ClaimAnswer) throws(RedemptionError) -> Redemption.Outcome {
        guard case .redeemed(let answer) = answer else { throw .userUnknown }
        return try Redemption.outcome(of: answer)
    }

    /// Verifies a proof without redeeming it.
    ///
    /// - Parameter app: The bundle identifier of the only app whose proofs the caller may send; nil for all apps.
    package func verify(_ proof: [UInt8], of app: String? = nil) throws(RedemptionError) -> VerifiedProof {
        let app = limitingApp ?? app
        let expectations = ProofExpectations(
            apps: apps.all.compactMap { known in
                guard app?.hasSameBytes(as: known.bundleIdentifier) ?? true else { return nil }
                return .init(
                    bundleIdentifier: known.bundleIdentifier, appAppleIdentifier: known.appAppleIdentifier)
            }, origins: accepted.all)
        let started = ContinuousClock.now
        var unreadable: [String] = []
        defer { observers.onVerify(ContinuousClock.now - started, unreadable) }
        do {
            let verified = try verifier.verify(proof, expecting: expectations)
            unreadable = verified.unreadableFields
            return verified
        } catch {
            throw .refused(error)
        }
    }

    /// True if a signed JSON has a chain that was verified before, so that verifying it is cheap.
    package func hasCachedChain(_ proof: [UInt8]) -> Bool { verifier.hasCachedChain(proof) }

    /// A user whom the ledger knows, and the account token if it was made.
    ///
    /// - Returns: Nil for an unknown user.
    package func account(of user: User) async throws -> (user: User, appAccountToken: UUID?)? {
        try await ledger.read(.snapshot) { transaction in
            guard try transaction.users.known(user) != nil else { return nil }
            return (user, try transaction.appAccountToken(of: user))
        }
    }

    /// The account token of a user, which the app sets on purchases. It is made on first use, and so is the user.
    package func appAccountToken(of user: User) async throws -> UUID {
        if let token = try await ledger.read(.snapshot, { try $0.appAccountToken(of: user) }) { return token }
        return try await ledger.write { try $0.makeAppAccountToken(of: user, at: clock.now()) }
    }

    /// Sets an account token that the team has generated, unless the user has one. Only back ends may set one: it takes purchases
    /// from others.
    ///
    /// - Parameter isCorrection: True to set it in any case, even if it is another user's.
    package func setAppAccountToken(
        _ token: UUID,
        of user: User,
        isCorrection: Bool = false
    ) async throws -> AppAccountTokenAnswer {
        try await ledger.write {
            try $0.setAppAccountToken(token, of: user, isCorrection: isCorrection, at: clock.now())
        }
    }

    /// The claims of a proof, by the catalog of its app. A proof of an unknown app claims products without a benefit.
    func claims(_ verified: VerifiedProof, _ proof: [UInt8]) throws(RedemptionError) -> ProofClaims {
        let app = try bundleIdentifier(of: verified)
        return ProofClaims(of: verified, proof, app: app, by: apps[app]?.catalog, isKept: keepsProofs)
    }

    /// The app of a proof. If the proof names none, the service must sell only one app.
    func bundleIdentifier(of verified: VerifiedProof) throws(RedemptionError) -> String {
        if let named = verified.bundleIdentifier { return named }
        guard apps.all.count == 1 else {
            throw .refused(
                ProofRefusal(.bundleIdentifierMismatch, "The proof names no app, and the service sells several."))
        }
        return apps.first.bundleIdentifier
    }
}
