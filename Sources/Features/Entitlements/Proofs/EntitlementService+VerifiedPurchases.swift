import Catalog
import Ledger
import Proofs

extension EntitlementService {
    /// The purchase of a verified signed transaction. Nothing is redeemed.
    ///
    /// - Throws: `RedemptionError` for another kind of proof; `StorageFault`.
    package func purchase(in verified: VerifiedProof) async throws -> VerifiedPurchase {
        guard case .transaction = verified.content, let stated = verified.purchases?.first else {
            throw RedemptionError.notRedeemable
        }
        let app = try bundleIdentifier(of: verified)
        let claim = ProofClaims(of: verified, [], app: app, by: apps[app]?.catalog, isKept: false).claim(stated)
        let type = stated.facts.text(.type).flatMap(ProductType.init) ?? catalogs.type(of: stated.productIdentifier)
        let (environment, moment) = (verified.environment, clock.now())
        return try await ledger.read {
            VerifiedPurchase(claim, type, environment, by: try $0.facts(about: claim), at: moment)
        }
    }
}

extension LedgerTransaction {
    /// The facts about a claim that nobody presents.
    fileprivate func facts(about claim: Claim) throws -> EntitlementFacts {
        let apps = try AppRecords(database: database).numbers(of: [])
        return try EntitlementRecords(database: database, apps: apps).facts(about: [claim])
    }
}
