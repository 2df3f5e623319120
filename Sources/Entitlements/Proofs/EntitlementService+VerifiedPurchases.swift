import Catalog
import Commerce
import Ledger
import Receipts

extension EntitlementService {
    /// The purchase of a verified signed transaction. Nothing is redeemed.
    ///
    /// - Throws: `RedemptionError` for another kind of proof; `StorageFault`.
    public func purchase(in verified: VerifiedProof) async throws -> VerifiedPurchase {
        guard case .transaction = verified.content, let stated = verified.purchases?.first else {
            throw RedemptionError.notRedeemable
        }
        let app = try bundleIdentifier(of: verified)
        let claim = ProofClaims(of: verified, [], app: app, by: apps[app]?.catalog, isKept: false).claim(stated)
        let (catalogs, moment) = (self.catalogs, clock.now())
        let (known, parkedRevocation) = try await ledger.read { transaction in
            (
                try transaction.purchases(ofTransaction: claim.originalTransactionIdentifier, at: moment) {
                    catalogs.type(of: $0)
                },
                try transaction.revocationDate(
                    ofUnclaimed: TransactionKey(
                        app: app, origin: claim.origin, identifier: claim.transactionIdentifier))
            )
        }
        let purchase = known.first {
            $0.app?.hasSameBytes(as: app) == true && $0.status.origin == claim.origin
                && $0.status.originalTransactionIdentifier.hasSameBytes(as: claim.originalTransactionIdentifier)
        }
        let type = stated.facts.text(.type).flatMap(ProductType.init) ?? catalogs.type(of: stated.productIdentifier)
        return VerifiedPurchase(claim, stated, type, verified.environment, purchase, parkedRevocation)
    }
}

extension VerifiedPurchase {
    /// - Parameters:
    ///   - claim: The claim of the proof, by the catalog.
    ///   - known: The purchase in the ledger; nil if nobody has redeemed it.
    ///   - parkedRevocation: The revocation of a transaction that nobody has redeemed, as a notification has stated it.
    fileprivate init(
        _ claim: Claim,
        _ stated: ProvenPurchase,
        _ type: ProductType?,
        _ environment: AppStoreEnvironment,
        _ known: KnownPurchase?,
        _ parkedRevocation: Timestamp?
    ) {
        let transactions = known?.transactions ?? []
        let own = transactions.first {
            $0.transactionIdentifier.hasSameBytes(as: claim.transactionIdentifier)
                && $0.productIdentifier.hasSameBytes(as: claim.productIdentifier)
        }
        // A restored non-consumable has another identifier than the purchase that was refunded.
        let related = type == .nonConsumable ? transactions : own.map { [$0] } ?? []
        // An upgraded period has ended, whatever it states.
        let isUpgraded = [stated.facts, own?.facts].contains { $0?.bool(.isUpgraded) == true }
        let ends = [claim.expiresAt ?? stated.expiresDate, own?.expiresAt, own?.graceEndsAt].compactMap(\.self)
        let later =
            type == .autoRenewableSubscription ? transactions.filter { $0.purchaseDate > stated.purchaseDate } : []
        let end = ends.max().map { end in min(end, later.map(\.purchaseDate).min() ?? end) }
        // In an app receipt, and after a proration, an upgrade is a revocation.
        let revokedAt = [stated.revocationDate, parkedRevocation].compactMap(\.self).first
        let isReplaced =
            revokedAt.map { date in
                later.contains {
                    EntitlementDecision.Successor($0)
                        .replaces(stated.productIdentifier, from: stated.purchaseDate, revokedAt: date)
                }
            } ?? false
        self.init(
            environment: environment, productIdentifier: stated.productIdentifier, type: type,
            expiresAt: isUpgraded ? stated.purchaseDate : end,
            isRevoked: revokedAt != nil && !isReplaced && !isUpgraded
                || related.contains { $0.revocationDate != nil || $0.revocation != nil },
            isRedeemed: own != nil,
            isOwned: known.map {
                $0.status.state.isOwned && $0.status.productIdentifier.hasSameBytes(as: stated.productIdentifier)
            } ?? false)
    }
}

extension LedgerTransaction {
    /// The revocation of a transaction that nobody has redeemed; nil if none was stated.
    func revocationDate(ofUnclaimed key: TransactionKey) throws -> Timestamp? {
        let apps = try AppRecords(database: database).numbers(of: [])
        return try database.row(
            "SELECT revocation_date FROM parked_transaction WHERE transaction_id = $1 AND origin = $2 AND app = $3",
            key.sqlValues(apps)
        ).flatMap { try $0["revocation_date"] }
    }
}
