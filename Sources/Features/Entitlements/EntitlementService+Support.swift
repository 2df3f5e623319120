import Ledger
import Proofs

/// The use cases that record how time changes the histories of users.
extension EntitlementService {
    /// The maximum number of purchases in one commit.
    private static let pageSize = 100

    /// Records the changes that time has caused: ends, grace periods and billing retries.
    ///
    /// - Parameters:
    ///   - moment: The moment until which they are due; nil for now.
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew; nil
    ///     if there is none.
    /// - Returns: The due subscriptions whose statement about the renewal is awaited, by their original transactions.
    @discardableResult
    package func recordDueStates(
        at moment: Timestamp? = nil,
        holding hold: Timestamp? = nil
    ) async throws -> Set<TransactionKey> {
        let catalogs = catalogs
        let moment = moment ?? clock.now()
        var awaiting: Set<TransactionKey> = []
        var changed = 1
        // The loop ends at a page that changes nothing, which would repeat forever.
        while changed > 0, !Task.isCancelled {
            let page = try await ledger.writeInBackground {
                try $0.recordDueStates(at: moment, holding: hold, accepting: accepted, limit: Self.pageSize) {
                    catalogs.type(of: $0)
                }
            }
            changed = page.changed
            awaiting.formUnion(page.awaiting)
        }
        return awaiting
    }
}

extension EntitlementService {
    /// The first claims of a proof of any app and origin; empty if it is not authentic, or not of purchases.
    package func claims(ofAuthentic proof: [UInt8]) -> [Claim] {
        guard let verified = verifyForAnyone(proof), let purchases = verified.purchases,
            let claims = try? claims(verified, proof)
        else { return [] }
        return purchases.prefix(Self.maximumRefusals).map { claims.claim($0) }
    }

    /// The largest number of purchases of one proof whose refusal is recorded.
    private static let maximumRefusals = 10

    /// Records a refusal of an authentic proof, which support explains by it. Other refusals are only counted.
    ///
    /// - Parameters:
    ///   - error: The error of the redemption. One that says nothing of an authentic proof is ignored.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    ///   - verify: Returns `claims(ofAuthentic:)` of the proof, on a thread for such work.
    package func recordRefusal(
        _ error: any Error,
        for user: User,
        by actor: AuditActor,
        newcomers: NewcomerAllowance? = nil,
        verify: () async -> [Claim]
    ) async throws {
        guard case RedemptionError.refused(let refusal)? = error as? RedemptionError,
            refusal.reason.step == .appAndOrigin
        else { return }
        let refused = await verify()
        guard !refused.isEmpty else { return }
        let (app, limit) = (apps.first.bundleIdentifier, limit)
        let own = apps.all.map(\.bundleIdentifier).filter { limit?.includes(app: $0) ?? true }
        try await ledger.write {
            try $0.recordRefusal(
                refusal.code, of: refused, in: app, naming: own, for: user, by: actor, newcomers: newcomers,
                at: clock.now())
        }
    }
}
