import Commerce
import Ledger
import Receipts

extension EntitlementService {
    /// The largest number of purchases of one proof whose refusal is recorded.
    private static let maximumRefusals = 10

    /// Records a refusal of an authentic proof, which support explains by it. Other refusals are only counted.
    ///
    /// - Parameter error: The error of the redemption. One that says nothing of an authentic proof is ignored.
    public func recordRefusal(
        _ error: any Error,
        of proof: [UInt8],
        for user: User,
        by actor: AuditActor
    ) async throws {
        guard case RedemptionError.refused(let refusal)? = error as? RedemptionError,
            refusal.reason.step == .appAndOrigin, let verified = verifyForAnyone(proof),
            let purchases = verified.purchases
        else { return }
        let claims = claims(verified, proof)
        let refused = purchases.prefix(Self.maximumRefusals).map { claims.claim($0) }
        try await ledger.write {
            try $0.recordRefusal(refusal.code, of: refused, for: user, by: actor, at: clock.now())
        }
    }
}
