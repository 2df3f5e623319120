import Ledger
import Proofs

/// The use cases of purchases that a store states without a signature, when the service asks it.
extension EntitlementService {
    /// Purchases that Google Play has stated of a purchase token.
    ///
    /// - Parameters:
    ///   - stated: Those of the statement that count.
    ///   - app: The bundle identifier of the app.
    ///   - original: The first token of the chain of purchases, which is the original transaction.
    package func purchases(
        _ stated: [StatedPurchase], of statement: GooglePlayStatement, app: String, original: String
    ) -> VerifiedPurchases {
        let claims = ProofClaims(of: statement, app: app, by: apps[app]?.catalog, original: original)
        return VerifiedPurchases(
            origin: statement.origin, claims: stated.map { claims.claim($0.purchase, renewal: $0.renewal) })
    }

    /// A revocation that a store states of transactions: its date, its reason in Apple's numbers, and the date of the statement.
    package typealias StatedRevocation = (date: Timestamp, reason: Int, statedAt: Timestamp)

    /// Redeemed transactions, as they would be presented again.
    ///
    /// - Parameter revocation: Nil to state nothing new.
    package func purchases(
        repeating transactions: [RedeemedTransaction], from origin: Origin, revoked revocation: StatedRevocation? = nil
    ) -> VerifiedPurchases {
        VerifiedPurchases(
            origin: origin,
            claims: transactions.map { transaction in
                Claim(repeating: transaction, revoked: revocation, granting: apps[transaction.app ?? ""]?.catalog)
            })
    }

    /// Applies each of some purchases like a statement of the App Store: it goes to the user of its account token, or to the owner of
    /// the purchase. One for nobody is parked.
    ///
    /// - Parameter notification: The notification to store with the purchases; nil for none. It is stored with the last one, so that all
    ///   others are applied whenever the notification is known.
    package func outcomes(
        ofStated purchases: VerifiedPurchases, notifiedBy notification: NotificationRecord? = nil
    ) async throws -> [NotificationOutcome] {
        var outcomes: [NotificationOutcome] = []
        for (index, claim) in purchases.claims.enumerated() {
            if let notification, index == purchases.claims.count - 1 {
                outcomes.append(try await outcome(of: .notify(notification, stating: claim)))
            } else {
                outcomes.append(try await outcome(of: .state(claim)))
            }
        }
        if let notification, purchases.claims.isEmpty { outcomes.append(try await store(notification)) }
        return outcomes
    }
}

extension LedgerTransaction {
    /// The transactions of a purchase that its owner has redeemed, in no order; none without an owner.
    package func redeemedTransactions(ofPurchase key: TransactionKey) throws -> [RedeemedTransaction] {
        let apps = try apps
        let owner: Int64? = try database.value(
            "SELECT user_id FROM original WHERE original_transaction_id = $1 AND origin = $2 AND app = $3",
            key.sqlValues(apps))
        guard let owner else { return [] }
        return try ReadingRecords(database: database).transactions(ofPurchase: key, apps, of: owner)
    }
}

extension EntitlementService.VerifiedPurchases {
    /// The purchases, each under the original transaction with which it is redeemed.
    package var proven: [ProvenPurchase] {
        claims.map { claim in
            ProvenPurchase(
                transactionIdentifier: claim.transactionIdentifier,
                originalTransactionIdentifier: claim.originalTransactionIdentifier,
                productIdentifier: claim.productIdentifier, quantity: claim.quantity, purchaseDate: claim.purchaseDate,
                revocationDate: claim.revocationDate,
                revocationReason: claim.revocationReason.flatMap(RevocationReason.init)?.rawValue,
                expiresDate: claim.expiresAt,
                appAccountToken: claim.appAccountToken, facts: claim.facts ?? TransactionFacts())
        }
    }
}
