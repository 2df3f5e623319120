import Catalog
import Foundation
import Ledger
import Proofs
import Vocabulary

/// The service's use cases beside the redemption, for which `RedemptionDoor` is the only way.
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
    /// The moment before which a purchase of Google Play that is consumed at its first redemption is refused; nil to grant each once.
    let consumedRefusedBefore: Timestamp?
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
    ///   - consumedRefusedBefore: The moment before which a purchase of Google Play that is consumed at its first redemption is refused:
    ///     an earlier back end has delivered it. Nil to grant each once.
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
        consumedRefusedBefore: Timestamp? = nil,
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
        self.consumedRefusedBefore = consumedRefusedBefore
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

    /// The purchases of a verified proof, or of a store's statement, before the decision about them.
    package struct VerifiedPurchases: Sendable {
        package let origin: Origin
        let claims: [Claim]
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
