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
        return VerifiedPurchase(
            claim, type, verified.environment, status: purchase?.status, purchase?.transactions ?? [],
            parkedRevocation: parkedRevocation)
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
